#pragma once

#include <chrono>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/units.h"
#include "exec/core/communicator/communicator.h"
#include "exec/core/rank/rank_job.h"
#include "exec/program/run/run_job.h"
#include "exec/program/run/stopping.h"
#include "scenarios/plan/scenario.h"
#include "trace/trace.h"

/// The loop over the steps of a run, and its reports.
namespace debubble::exec {

// The metrics of routers in a network with experts.

/// The routers' terms of the loss in a step, and the load of the most loaded layer.
struct RouterMetrics {
    double aux_loss = 0;
    double z_loss = 0;
    double load = 1;  ///< see LayerLoad
};

/// The tokens of the expert with the most in a layer and step, over the mean of the layer's.
struct LayerLoad {
    int layer = 0;
    double load = 1;     ///< mean over the steps
    double largest = 1;  ///< of all steps
};

struct StepMetrics {
    std::int64_t step = 0;  ///< counts from 1
    double loss = 0;        ///< mean over the global batch's targets, before the step's update
    double grad_norm = 0;
    double lr = 0;
    double seconds = 0;
    double loss_scale = 1;
    bool skipped = false;
    bool rolled_back = false;
    std::optional<RouterMetrics> routers = {};  ///< of a network with experts
    /// The mean over the depths of multi-token prediction of the sums of their losses over the
    /// number of the batch's targets, without their factor.
    std::optional<double> mtp_loss = {};
};

/// The evaluation of `data.eval` with the weights after a step; means over its targets.
struct Evaluation {
    std::int64_t step = 0;
    double loss = 0;
    /// The share of targets that got the largest logit; unset where no rank sees all logits of a
    /// row.
    std::optional<double> accuracy;
    std::int64_t targets = 0;
    double seconds = 0;
};

/// The load of experts that ranks share: tokens that a rank's experts received, relative to the
/// mean over all ranks.
struct RunExpertLoad {
    double fullest_rank = 1;  ///< the mean over the run's passes, on the rank where it is largest
    double most = 1;          ///< the largest of one pass through one layer
    double at_peak = 1;       ///< of the tokens held at the peak of the rank that held most
};

/// Seconds of a run apart from its steps, of global rank 0, by which `reliability` can be set.
struct RunOverheads {
    double start = 0;  ///< from the process's begin until weights have their places, without a load
    double load = 0;   ///< of weights or of a checkpoint
    std::vector<double> saves;    ///< each of which steps waited for
    std::optional<Bytes> saved;   ///< by the last of them, of all ranks
    std::optional<Bytes> loaded;  ///< of the checkpoint after which the run goes on
};

struct RunOutcome {
    std::vector<StepMetrics> steps;
    std::vector<Evaluation> evaluations;  ///< by step, including one after the last step
    bool stopped = false;                 ///< whether a signal ended it before the last step
    double step_time_s = 0;               ///< median, without the first step
    Trace trace;                          ///< trace of a step of that length; on global rank 0 only
    std::vector<std::string> disorder;    ///< differences between that trace and the Program
    std::optional<RunExpertLoad> expert_load;  ///< unset where no ranks share experts
    std::int64_t proven_steps = 0;             ///< steps that every rank ran as its list says
    std::vector<LayerLoad> loads;              ///< of the layers with experts
    RunOverheads overheads;
};

/// The reports of a rank while it runs; each is called on one rank's thread.
struct RunListener {
    std::function<void(const std::string&)> on_note;       ///< called on global rank 0
    std::function<void(const StepMetrics&)> on_step;       ///< called on the rank that has the loss
    std::function<void(const Evaluation&)> on_evaluation;  ///< called on the same rank
};

/// Runs one rank, from its weights to its last step. All ranks call it together. Throws WorldError
/// when the actions of a rank in a step differ from its list (ActionLog), before anything of the
/// step is saved, and when the loss, the gradient or a weight to be saved is not a finite number:
/// the sentence names the step and the last complete checkpoint.
RunOutcome train(const RunJob& job, Communicator& world, const StopSignal& stop,
                 const RunListener& listener);

/// The loads of experts in a run, and the routers' terms of its losses, gathered from all ranks.
class LayerLoads {
public:
    /// Precondition: the network has experts. `world` must outlive this object.
    LayerLoads(const scenarios::Scenario& scenario, Communicator& world);

    /// Adds the step that has just run; a collective over all ranks.
    RouterMetrics step(RankJob& rank, std::chrono::nanoseconds patience);
    /// The layers with experts, over all steps so far.
    std::vector<LayerLoad> of_layers() const;

private:
    Communicator& world_;
    bool sequence_parallel_;
    std::vector<std::optional<double>> sums_;  ///< of loads over the steps, by layer with experts
    std::vector<double> largest_;              ///< by layer
    std::int64_t steps_ = 0;
};

}  // namespace debubble::exec
