#pragma once

#include <vector>

#include "exec/core/training/trained_stage.h"
#include "exec/core/training/training_groups.h"

/// Gradients to which several ranks contribute, apart from data-parallel replicas: sums that run
/// once the reductions over data-parallel ranks are done. Each function returns when its sum is
/// done.
namespace debubble::exec {

/// One stage that this rank holds.
struct LocalStage {
    Stage stage;
    TrainedStage* state = nullptr;
};

/// Whether this rank represents its tensor group and the copies of a tied parameter: it counts the
/// parameter in norms and saves it. Among the holders of a stage it is the first.
bool represents(const TrainedStage& state, const UnitSlot& slot);

/// Gives all copies of the tied parameter on this rank the sum over its copies on all stages.
Interval sum_tied_gradients(const std::vector<LocalStage>& stages, TrainingGroups& groups,
                            Kernels& kernels, Arena& arena, Deadline deadline);

/// Sums the gradients of parameters that tensor-parallel ranks hold whole and of which each has
/// made a part, in one all-reduce: of all of them with sequence parallelism, else of those that
/// only a rank's heads use.
void sum_replicated_gradients(const std::vector<LocalStage>& stages, TrainingGroups& groups,
                              bool sequence_parallel, Kernels& kernels, Arena& arena,
                              Deadline deadline);

/// Sums the tokens of each expert over all ranks that have routed some of the stage's, stage by
/// stage in the order of their numbers.
void sum_expert_loads(const std::vector<LocalStage>& stages, TrainingGroups& groups,
                      bool sequence_parallel, Deadline deadline);

/// Adds this rank's part of the squared global norm to `total` (fp64 [1]): the elements that it
/// owns, each parameter once.
void sum_of_squares(const std::vector<LocalStage>& stages, const TrainingGroups& groups,
                    Kernels& kernels, TensorView total);

}  // namespace debubble::exec
