#pragma once

#include <vector>

#include "exec/core/stage/step_inputs.h"
#include "scenarios/plan/scenario.h"

namespace debubble::exec {

/// Random tokens or pixels and random targets in the scenario's shapes: one rank's microbatches.
class RandomBatch {
public:
    explicit RandomBatch(const scenarios::Scenario& scenario);
    /// The inputs of a step; their tensors belong to this object. `loss_scale` is as TrainingStep
    /// says.
    StepInputs inputs(std::int64_t step, double loss_scale) const;

private:
    struct Sample {
        Tensor inputs;
        Tensor targets;
    };
    std::vector<Sample> micro_batches_;
    std::int64_t targets_ = 0;   ///< number of targets of the global batch
    int all_micro_batches_ = 1;  ///< of the global batch
};

}  // namespace debubble::exec
