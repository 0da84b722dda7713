#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "exec/core/communicator/communicator.h"
#include "exec/program/run/run_job.h"
#include "exec/program/run/stop_signal.h"
#include "trace/trace.h"

namespace debubble::exec {

struct StepMetrics {
    std::int64_t step = 0;  ///< counts from 1, as people do
    double loss = 0;        ///< before the step's update; mean over the global batch's targets
    double grad_norm = 0;
    double lr = 0;
    double seconds = 0;
    double loss_scale = 1;
    bool skipped = false;
    bool rolled_back = false;
};

/// Of `data.eval` with the weights behind a step; means over its targets.
struct Evaluation {
    std::int64_t step = 0;
    double loss = 0;
    /// Targets that got the largest logit; unset where no rank sees all logits of a row.
    std::optional<double> accuracy;
    std::int64_t targets = 0;
    double seconds = 0;
};

struct RunOutcome {
    std::vector<StepMetrics> steps;
    std::vector<Evaluation> evaluations;  ///< by step; behind the last one too
    bool stopped = false;                 ///< by a signal, before the last step
    double step_time_s = 0;               ///< median, without the first step
    Trace trace;                          ///< of a step of that length; on global rank 0 only
    std::vector<std::string> disorder;    ///< what of it is not as the Program says
    std::int64_t proven_steps = 0;        ///< each of which every rank ran as its list says
};

/// What a rank tells while it runs; each is called on one rank's thread.
struct RunListener {
    std::function<void(const std::string&)> on_note;       ///< global rank 0
    std::function<void(const StepMetrics&)> on_step;       ///< the rank that has the loss
    std::function<void(const Evaluation&)> on_evaluation;  ///< the same rank
};

/// One rank of a run, from its weights to its last step. All ranks call it together.
/// Throws WorldError when what a rank ran in a step is not what its list says (ActionLog), before
/// anything of the step is saved; when the loss, the gradient or a weight to be saved is not a
/// finite number: the sentence names the step and the last complete checkpoint.
RunOutcome train(const RunJob& job, Communicator& world, const StopSignal& stop,
                 const RunListener& listener);

}  // namespace debubble::exec
