#pragma once

#include <cstdint>
#include <vector>

#include "exec/core/tensor.h"

/// The inputs of one training step that come from outside the pipeline.
namespace debubble::exec {

/// Whole sequences, whatever the slices into which a pass cuts them.
struct MicroBatchInputs {
    ConstTensorView
        inputs;  ///< int32 tokens [samples, T], or fp32 images [samples, channels, H, W]
    ConstTensorView targets;  ///< int32 [samples, T], or classes [samples]
    /// Index in the global batch: dropout's random numbers depend on it.
    std::int64_t first_sample = 0;
};

struct StepInputs {
    std::int64_t step = 0;  ///< counts from 0; part of dropout's random stream
    std::uint64_t seed = 0;
    bool training = true;  ///< whether there are dropout and gradients; false to evaluate
    /// Loss scale divided by the number of non-ignored targets of the global batch.
    double gradient_scale = 1;
    /// Loss scale divided by the number of microbatches of all replicas: the factor of terms of the
    /// loss that are means over these.
    double micro_batch_scale = 1;
    std::int32_t ignore_index = -100;
    std::vector<MicroBatchInputs> micro_batches;  ///< by index
};

}  // namespace debubble::exec
