#pragma once

#include <chrono>
#include <memory>
#include <vector>

#include "exec/core/device.h"
#include "exec/core/interpreter/run_step.h"
#include "exec/core/kernels.h"
#include "exec/core/pinned_pool.h"
#include "exec/core/stage/model_stage.h"
#include "exec/core/training/rank_training.h"
#include "scenarios/plan.h"

/// One rank of a job: all that it takes to carry out its list of the Program, step after step.
namespace debubble::exec {

struct JobOptions {
    /// Makes what computes where there is no device (cpu_kernels_maker() of exec/cpu).
    KernelsMaker make_kernels;
    Bytes capacity;  ///< of its arena; unset: as much as the machine has
    std::chrono::nanoseconds patience = std::chrono::minutes(5);
    VisitListener on_visit = {};  ///< on the rank's thread
    /// What computes instead of the processor; `make_kernels` is not called then.
    std::shared_ptr<Device> device = {};
    Bytes planned = {};  ///< what the rank will hold at its fullest; unset: not known
    ShardingListener on_sharding = {};  ///< beside on_visit
};

class RankJob {
public:
    /// All ranks of `world`, which are the scenario's, make theirs together; whatever framework
    /// the scenario names, it is executed by this one's habits. Throws InputError
    /// for what the executor cannot run, WorldError before it allocates where a device has less
    /// room than was planned. The references must outlive this.
    RankJob(const scenarios::Scenario& scenario, const scenarios::Plan& plan,
            const TrainingOptions& options, Communicator& world, const JobOptions& how);

    /// Runs the rank's list once, on the calling thread. The caller gives the step's data and
    /// gradient scale: training().loss_scale() over the targets that count.
    StepRecord step(const StepInputs& inputs);

    /// The forwards alone, in the Program's order: `inputs.training` must be false.
    void evaluate(const StepInputs& inputs);

    /// Of the step or evaluation that ran last, of the stages of this rank, not divided. Another
    /// pipeline rank may have the head, another data rank other samples.
    double loss_total() const;
    double correct_total() const;
    /// What the step or evaluation that ran last has done, by those who did it.
    const ActionLog& log() const { return log_; }
    bool has_head() const;  ///< some stage of this rank has

    TrainingStep& training() { return *training_.step; }
    RankTraining& state() { return training_; }
    const TrainingGroups& groups() const { return *training_.groups; }
    Kernels& kernels() { return *kernels_; }
    const Arena& arena() const { return arena_; }
    const Device* device() const { return how_.device.get(); }  ///< nullptr: the processor
    Rank rank() const { return Rank{training_.groups->place.pipeline}; }

private:
    StepRecord run(const Program& program, const StepInputs& inputs);
    void rehearse();

    const scenarios::Scenario scenario_;  ///< as executed
    const scenarios::Plan& plan_;
    Program forward_;  ///< for evaluations
    JobOptions how_;
    ActionLog log_;
    Arena arena_;
    std::unique_ptr<Kernels> kernels_;
    std::unique_ptr<PinnedPool> pinned_;
    std::unique_ptr<Communicator> on_device_;  ///< the world, for a device's tensors, by itself
    bool rehearses_ = false;
    std::unique_ptr<Communicator> muted_;  ///< that, or the host's, silent while a device rehearses
    std::unique_ptr<Communicator> staged_;  ///< and carried through the host
    Communicator& world_;
    RankTraining training_;
    std::unique_ptr<Communicator> pipeline_;
    std::vector<std::unique_ptr<StageRunner>> runners_;
    std::vector<StageRunner*> stages_;  ///< as the placement lists them for the rank
};

}  // namespace debubble::exec
