#pragma once

#include <string>

#include "sim/predict.h"

namespace debubble::sim {

/// A prediction as one HTML file that needs nothing else, no network either: the plan, the figures,
/// the picture of the timeline (which says on hover what its bars are), the memory of every rank,
/// notes and sources. The same arguments give the same bytes.
std::string report_html(const scenarios::Scenario& scenario, const PredictionWithTrace& answer);

}  // namespace debubble::sim
