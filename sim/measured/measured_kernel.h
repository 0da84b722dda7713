#pragma once

#include "sim/measured/measured_comparison.h"

/// Measured kernels beside their predictions.
namespace debubble::sim {

/// Prices the kernel of a row whose scenario is {cluster, kernel, dtype, shape, measures}
/// (scenarios/cluster/kernel_table.h): at the clock of short runs where it measures a burst, else
/// at that of steps. `work` are its FLOPs.
MeasuredComparison compare_kernel(const MeasuredStep& step);

}  // namespace debubble::sim
