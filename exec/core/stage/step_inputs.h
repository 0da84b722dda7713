#pragma once

#include <cstdint>
#include <vector>

#include "exec/core/tensor.h"

/// What one training step brings from outside the pipeline.
namespace debubble::exec {

/// Whole sequences, whatever slices a pass cuts them into.
struct MicroBatchInputs {
    ConstTensorView
        inputs;  ///< int32 tokens [samples, T], or fp32 images [samples, channels, H, W]
    ConstTensorView targets;        ///< int32 [samples, T], or classes [samples]
    std::int64_t first_sample = 0;  ///< in the global batch: the place of dropout's random numbers
};

struct StepInputs {
    std::int64_t step = 0;  ///< counts from 0; part of dropout's random stream
    std::uint64_t seed = 0;
    bool training = true;  ///< dropout, gradients; false to evaluate
    /// Loss scale / non-ignored targets of the global batch.
    double gradient_scale = 1;
    std::int32_t ignore_index = -100;
    std::vector<MicroBatchInputs> micro_batches;  ///< by index
};

}  // namespace debubble::exec
