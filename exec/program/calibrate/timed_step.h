#pragma once

#include <optional>
#include <vector>

#include "exec/core/interpreter/step_record.h"
#include "exec/core/rank/rank_job.h"
#include "exec/io/data/training_data.h"

/// The steps that are timed: the batches that ranks see in them, and the times of a step's record
/// that belong to no operator.
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

/// Timings in seconds of one rank and step.
struct StepTimings {
    int passes = 0;        ///< number of passes, including recomputations and overlaps
    double in_passes = 0;  ///< sum of their times
    /// Times between an action of the compute lane and a pass after it that waits for no message.
    std::vector<double> gaps;
    /// Time from the call to the first pass, if that waits for no message: gradients are zeroed in
    /// it.
    std::optional<double> before_first;
    std::optional<double> optimizer;
    /// Time of a norm until ranks add it up: of the sum of squares. Ranks that were early have
    /// waited in it.
    std::optional<double> norm;
    std::optional<double> core_share;  ///< of the thread in passes
    double after_last = 0;             ///< from the last action's end to the return of the call
};

/// The timings of a step; `begin` and `end` are the instants of its call and return.
StepTimings timings_of(const StepRecord& record, Instant begin, Instant end, int stage_count);

}  // namespace debubble::exec
