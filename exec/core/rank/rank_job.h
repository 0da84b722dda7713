#pragma once

#include <chrono>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/units.h"
#include "exec/core/device.h"
#include "exec/core/interpreter/run_step.h"
#include "exec/core/kernels.h"
#include "exec/core/pinned_pool.h"
#include "exec/core/stage/passes/model_stage.h"
#include "exec/core/stage/step.h"
#include "exec/core/training/rank_training.h"
#include "scenarios/plan/plan.h"
#include "scenarios/plan/scenario.h"

namespace debubble::exec {

/// The capacity that an arena needs whose tensors are predicted to hold `planned` bytes at their
/// peak: a tenth more and 1 GiB, for gaps between tensors and memory that the prediction leaves
/// out.
Bytes arena_need(Bytes planned);

/// The size of a device's arena: the predicted need, so that the rest of the device is left to
/// libraries that allocate later; at most `room`. All of `room` where no prediction is known (0),
/// or where routers decide how many tokens arrive (`rows_vary`). Throws WorldError with both
/// numbers if `room` is less than what was planned.
Bytes arena_on_device(Bytes planned, bool rows_vary, Bytes room, const std::string& device);

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

// One rank of a job: everything that it needs to execute its action list of the Program, step after
// step.

struct JobOptions {
    /// Makes the kernels where there is no device (cpu_kernels_maker() of exec/cpu).
    KernelsMaker make_kernels;
    Bytes capacity;  ///< capacity of its arena; unset: as much as the machine has
    std::chrono::nanoseconds patience = std::chrono::minutes(5);
    OperatorListener on_operator = {};  ///< called on the rank's thread
    /// The device that computes instead of the processor; `make_kernels` is not called then.
    std::shared_ptr<Device> device = {};
    Bytes planned = {};                 ///< predicted peak bytes of the rank; unset: not known
    ShardingListener on_sharding = {};  ///< called in addition to on_operator
    /// Whether the rehearsal times the algorithms of GEMMs (Device::timed_products).
    bool times_products = false;
};

class RankJob {
public:
    /// All ranks of `world`, which are the scenario's, make theirs together. The executor's own
    /// framework profile applies, whatever framework the scenario names. Throws InputError for a
    /// scenario that the executor cannot run, WorldError before it allocates tensors where a device
    /// has less room than was planned. The referenced objects must outlive this one.
    RankJob(const scenarios::Scenario& scenario, const scenarios::Plan& plan,
            const TrainingOptions& options, Communicator& world, const JobOptions& how);

    /// Runs the rank's list once, on the calling thread. The caller gives the step's data and
    /// gradient scale: training().loss_scale() over the number of targets that count.
    StepRecord step(const StepInputs& inputs);

    /// Runs only the forwards, in the Program's order. Precondition: `inputs.training` is false.
    void evaluate(const StepInputs& inputs);

    /// The sum of the loss over the stages of this rank in the last step or evaluation, not
    /// divided. Another pipeline rank may have the head, another data rank other samples.
    double loss_total() const;
    /// The same sum of multi-token prediction over all of its depths, without its factor.
    double ahead_loss_total() const;
    double correct_total() const;
    /// The terms that the routers of this rank's stages have added to the loss on this rank's
    /// tokens, times StepInputs::micro_batch_scale.
    RouterTotals router_totals() const;
    /// The load of this rank's experts in the last step or evaluation.
    ExpertLoad expert_load() const;
    /// The tokens that they received, stage by stage.
    std::map<Stage, std::vector<ReceivedTokens>> received_tokens() const;
    /// The record of the work in the last step or evaluation, written by the objects that did it.
    const ActionLog& log() const { return log_; }
    bool has_head() const;  ///< whether a stage of this rank has the head

    TrainingStep& training() { return *training_.step; }
    RankTraining& state() { return training_; }
    const TrainingGroups& groups() const { return *training_.groups; }
    Kernels& kernels() { return *kernels_; }
    const Arena& arena() const { return arena_; }
    const Device* device() const { return how_.device.get(); }  ///< nullptr means the processor
    Rank rank() const { return Rank{training_.groups->place.pipeline}; }

private:
    StepRecord run(const Program& program, const StepInputs& inputs);
    void rehearse();

    const scenarios::Scenario scenario_;  ///< the scenario as executed
    const scenarios::Plan& plan_;
    Program forward_;  ///< the list of evaluations
    JobOptions how_;
    ActionLog log_;
    /// Reserves a device's memory once all members up to `pipeline_` and the groups exist, and ends
    /// after them: a device waits for their work before it frees memory.
    Arena arena_;
    std::unique_ptr<Kernels> kernels_;
    std::unique_ptr<PinnedPool> pinned_;
    std::unique_ptr<Communicator> on_device_;  ///< the world over the device's own transport
    bool rehearses_ = false;
    /// The host's, or the device's, muted while a device rehearses.
    std::unique_ptr<Communicator> muted_;
    std::unique_ptr<Communicator> staged_;  ///< the world, staged through the host
    Communicator& world_;
    std::unique_ptr<Communicator> pipeline_;
    RankTraining training_;
    std::vector<std::unique_ptr<StageRunner>> runners_;
    /// The rank's stages in the order of the placement.
    std::vector<StageRunner*> stages_;
};

}  // namespace debubble::exec
