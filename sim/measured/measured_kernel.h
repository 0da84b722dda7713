#pragma once

#include "sim/measured/measured_comparison.h"

/// Measured kernels compared with their predictions.
namespace debubble::sim {

/// Prices the kernel of a row whose scenario is {cluster, kernel, dtype, shape, measures}
/// (scenarios/cluster/kernel_table.h): at the clock of short runs where it measures a burst, else
/// at the clock of steps. `work` is the number of its FLOPs.
MeasuredComparison compare_kernel(const MeasuredStep& step);

}  // namespace debubble::sim
