#pragma once

#include <functional>
#include <optional>

#include "scenarios/cluster/kernel_table.h"

/// Prices a kernel from measured kernels of other shapes. A formula has the shape of a kernel's
/// time, with an error of some tenth that is similar for similar kernels. The ratio of measured
/// time to formula of the nearest shapes therefore corrects it: the geometric mean of the four
/// nearest by the logarithms of their sizes, weighted by the inverse squares of their distances
/// (Shepard 1968). A measured shape has its measured time.
namespace debubble::sim {

/// Measured seconds over the formula's; nothing where the table has no kernel of the kind: type,
/// direction, grouped or not. `law` gives the seconds of a kernel at the clock of the table.
template <class Work>
std::optional<double> measured_over_law(const Work& work, const scenarios::KernelTable& table,
                                        const std::function<double(const Work&)>& law);

}  // namespace debubble::sim
