#pragma once

#include "sim/measured/measured_comparison.h"

/// Measured collectives compared with their predictions.
namespace debubble::sim {

/// Predicts the collective of a row whose scenario is {cluster, gpus, collective, bytes}: one group
/// of the first `gpus` GPUs of the cluster, and `bytes` of the whole tensor, as nccl-tests count
/// them. `work` is the number of bytes on its bus (nccl-tests, doc/PERFORMANCE.md).
MeasuredComparison compare_collective(const MeasuredStep& step);

}  // namespace debubble::sim
