#pragma once

#include <string>

#include "sim/measured/accuracy_report.h"

namespace debubble::sim {

/// Predicted over measured times as a self-contained picture: a mark per row on logarithmic axes,
/// coloured by table, which names its row on hover; the diagonal of no error, and the band of 10 %.
/// Steps and collectives have a panel each, where there are any.
std::string to_svg(const AccuracyReport& report);

}  // namespace debubble::sim
