#pragma once

#include <optional>
#include <vector>

#include "exec/core/rank/rank_job.h"
#include "exec/io/data/training_data.h"

namespace debubble::exec {

/// The data that the scenario's `training.data` names; nothing if it names none. Throws InputError.
std::optional<TrainingData> data_of(const scenarios::Scenario& scenario);

/// The batches that one rank sees: its share of the data, in the order of the training, or the same
/// random batch at every step.
class ShownBatches {
public:
    /// `data` must outlive this.
    ShownBatches(const scenarios::Scenario& scenario, const std::optional<TrainingData>& data,
                 int data_rank);
    /// The inputs of a step, valid until the next call; `loss_scale` is as TrainingStep says.
    StepInputs inputs(std::int64_t step, double loss_scale);

private:
    const TrainingData* data_ = nullptr;
    int data_rank_;
    int all_micro_batches_;  ///< of the global batch
    std::vector<Batch> batches_;
    std::optional<RandomBatch> random_;
};

}  // namespace debubble::exec
