#pragma once

#include <functional>
#include <optional>

#include "scenarios/cluster/kernel_table.h"

/// What measured kernels say of one that was not measured.
///
/// A law has the shape of a kernel's time, and errs by some tenth, alike for kernels that are
/// alike. The ratio of measured and law of the nearest shapes therefore corrects it: the geometric
/// mean of the four nearest by the logarithms of their sizes, weighted by the inverse squares of
/// their distances (Shepard 1968). A shape that was measured has its own time.
namespace debubble::sim {

/// Measured seconds over those of the law; nothing where the table has no kernel of the kind: type,
/// direction, grouped or not. `law` gives the seconds of a kernel at the clock of the table.
template <class Work>
std::optional<double> measured_over_law(const Work& work, const scenarios::KernelTable& table,
                                        const std::function<double(const Work&)>& law);

}  // namespace debubble::sim
