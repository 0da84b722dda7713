#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "exec/core/communicator/communicator.h"
#include "exec/core/stage/step.h"
#include "exec/core/training/gradient_scale.h"
#include "exec/core/training/shared_gradients.h"
#include "exec/core/training/training_groups.h"
#include "exec/core/training/training_options.h"

namespace debubble::exec {

/// Requests, and the work that follows when they are complete. Both the interpreter, which has
/// asked for it, and anything that builds on the result may wait, and the first one that waits does
/// the work. One thread of a rank waits at a time.
class Work {
public:
    /// `finish` may ask for more and wait for it.
    using Finish = std::function<Interval(Deadline)>;

    explicit Work(Finish finish) : finish_(std::move(finish)) {}

    Interval wait(Deadline deadline) {
        // The function is destroyed before this returns, and with it the requests and their
        // buffers.
        if (const Finish finish = std::exchange(finish_, nullptr)) interval_ = finish(deadline);
        return interval_;
    }
    bool done() const { return !finish_; }

private:
    Finish finish_;
    Interval interval_{};
};

/// The interpreter's request for the work: if the interpreter gives it up, the work stays.
Pending pending(std::shared_ptr<Work> work);

/// Waits for all; the interval from the first start to the last end, or now if there is none.
Interval wait_all(std::vector<Pending>& requests, Deadline deadline);

/// The outcome of a step, which is the same on all ranks.
struct StepOutcome {
    double norm = 0;  ///< norm of the global gradient, without loss scaling, before clipping
    double clip_factor = 1;
    double lr = 0;
    double loss_scale = 1;  ///< loss scale of the step
    bool skipped = false;   ///< whether a gradient overflowed, so that nothing was stepped
    /// Whether the norm was infinite or not a number although there is no loss scale that could be
    /// the reason. The training is over: a post-validated step has been taken.
    bool diverged = false;
    bool rolled_back = false;  ///< whether a post-validated step was undone
};

/// Gradient reduction, norm and optimizer, in the order in which a Program asks for them.
///
/// * Reductions are sums: the loss is already divided by the targets of the global batch.
/// * ReduceGrad sums over data x context ranks, experts over those that have the same part of them,
///   and over all holders of the stage. With several
///   holders it is one all-reduce, since their passes are not in step.
/// * Gradients of parameters that tensor-parallel ranks all hold, but for which they see only their
///   own positions under sequence parallelism (norms, biases of row-parallel linear layers,
///   positions), are summed over the tensor group once per step, at the GradNorm or OptimizerStep
///   that comes first.
/// * The tokens of each expert are summed there too, and correct the biases of routers, whether the
///   optimizer then steps or not (Megatron-Core's finalize_model_grads).
/// * The norm counts every parameter once: tied copies by their first, whole parameters of a
///   tensor group by its first rank, stages with several holders by the first. A sum of squares
///   that is not finite is the overflow flag.
/// * OptimizerStep before GradNorm is post-validated (zero-bubble paper, section 4): it steps as
///   if nothing had to be clipped and keeps a copy of the state; the GradNorm that follows puts
///   the copy back, bit by bit, and steps again, if it must. No copy is kept where the norm can
///   change nothing.
class TrainingStep final : public StepActions {
public:
    /// `stages` are in the order of their numbers. All referenced objects must outlive this one.
    TrainingStep(TrainingGroups& groups, std::vector<LocalStage> stages,
                 const TrainingOptions& options, const StatePolicy& policy, bool sequence_parallel,
                 std::chrono::nanoseconds patience, Kernels& kernels, Arena& arena);

    void begin_step(std::int64_t step) override;
    Pending unshard(Stage stage) override;
    void reshard(Stage stage) override;
    void reduction_follows(Stage stage) override;
    Pending reduce_grad(Stage stage) override;
    Pending tied_grad_reduce(Stage stage) override;
    Pending grad_norm() override;
    void optimizer_step() override;
    Bytes moved(const Action& action) const override;

    /// The factor on the gradients of the next step (StepInputs::gradient_scale).
    double loss_scale() const { return scaler_ ? scaler_->scale() : 1; }
    /// Sets the change of the routers' correction biases in a step.
    void correct_routers_by(double rate) { router_rate_ = rate; }
    const StepOutcome& outcome() const { return outcome_; }  ///< outcome of the last step
    /// Runs the GEMMs of an optimizer step once, without a step.
    void rehearse();
    /// Whether every weight is a finite number; a collective over all ranks, between steps.
    bool weights_are_finite();

    // The values that a resumed run must have again.
    std::int64_t steps_taken() const { return steps_taken_; }  ///< steps of the optimizer: Adam's t
    LossScaleState loss_scale_state() const;
    void restore(std::int64_t steps_taken, const LossScaleState& loss_scale);

private:
    struct Copy {
        TensorView original;
        TensorView kept;
        ArenaTensor memory;  ///< memory of `kept`, unless that is a host copy
    };

    TrainedStage& state(Stage stage) const;
    bool is_in_step(Stage stage) const;
    ReductionGroups reduction_groups(Stage stage) const;
    Pending start(Work::Finish finish);
    void complete(Deadline deadline);  ///< completes all that was asked for
    void complete_gradients(Deadline deadline);
    void judge(double squares);
    /// Whether the norm may clip the step, or make it skipped.
    bool may_change_the_step() const { return scaler_ || options_.clip_norm; }
    void step(double gradient_factor);
    void keep_copies();
    void validate(Deadline deadline);

    TrainingGroups& groups_;
    std::vector<LocalStage> stages_;
    TrainingOptions options_;
    StatePolicy policy_;
    bool sequence_parallel_;
    std::chrono::nanoseconds patience_;
    Kernels& kernels_;
    Arena& arena_;
    std::optional<LossScaler> scaler_;

    std::int64_t step_ = 0;
    std::int64_t steps_taken_ = 0;
    StepOutcome outcome_;
    bool gradients_complete_ = false;
    double router_rate_ = 0;
    bool stepped_ = false;  ///< before the norm was known
    std::vector<Copy> copies_;
    std::vector<HeldTensor> host_copies_;           ///< copies of offloaded state, made once
    std::vector<std::shared_ptr<Work>> under_way_;  ///< work that the norm must wait for
    std::shared_ptr<Work> norm_;
};

}  // namespace debubble::exec
