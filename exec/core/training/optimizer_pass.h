#pragma once

#include <cstdint>
#include <vector>

#include "exec/core/arena.h"
#include "exec/core/kernels.h"
#include "exec/core/training/shared_gradients.h"
#include "exec/core/training/state/state_policy.h"
#include "exec/core/training/training_options.h"

namespace debubble::exec {

/// One pass of the optimizer over everything that a rank steps.
struct OptimizerPass {
    OptimizerOptions optimizer;
    double lr = 0;  ///< learning rate of this step
    std::int64_t step = 1;
    double gradient_factor = 1;  ///< product of loss scale and clipping
};

/// Steps all parameters but the matrices that Muon steps (matrix_pass.h). State on the host passes
/// through a device's memory (state_stream.h); on the processor it is stepped where it lies, like
/// all other state.
void step_parameters(const OptimizerPass& pass, const std::vector<LocalStage>& stages,
                     const StatePolicy& policy, Kernels& kernels, Arena& arena);

}  // namespace debubble::exec
