#pragma once

#include <cstdint>
#include <vector>

#include "exec/core/arena.h"
#include "exec/core/kernels.h"
#include "exec/core/training/shared_gradients.h"
#include "exec/core/training/state_policy.h"
#include "exec/core/training/training_options.h"

namespace debubble::exec {

/// The optimizer, once over all that a rank steps.
struct OptimizerPass {
    OptimizerOptions optimizer;
    double lr = 0;  ///< of this step
    std::int64_t step = 1;
    double gradient_factor = 1;  ///< of loss scale and clipping
};

/// State that lies on the host passes through a device's memory (state_stream.h); on the
/// processor it is stepped where it lies, as all other state is.
void step_parameters(const OptimizerPass& pass, const std::vector<LocalStage>& stages,
                     const StatePolicy& policy, Kernels& kernels, Arena& arena);

}  // namespace debubble::exec
