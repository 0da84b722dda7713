#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "base/ids.h"
#include "exec/core/arena.h"
#include "exec/core/communicator/communicator.h"
#include "exec/core/stage/stage_parameters.h"
#include "exec/core/stage/step.h"
#include "schedule/action.h"

/// One stage of the model on one rank, as the interpreter of Programs sees it.
namespace debubble::exec {

/// Terms that routers of experts add to the loss.
struct RouterTotals {
    double balance = 0;  ///< load-balancing (auxiliary) loss
    double z = 0;

    RouterTotals& operator+=(const RouterTotals& more) {
        balance += more.balance;
        z += more.z;
        return *this;
    }
};

/// The load of a rank's experts: the tokens that they received, relative to those that the rank
/// itself routed, over passes through layers whose experts are shared or cut by ranks.
struct ExpertLoad {
    double sum = 0;
    double most = 0;
    std::int64_t passes = 0;

    void add(double load) {
        sum += load;
        most = std::max(most, load);
        ++passes;
    }
    ExpertLoad& operator+=(const ExpertLoad& more) {
        sum += more.sum;
        most = std::max(most, more.most);
        passes += more.passes;
        return *this;
    }
    double mean() const { return passes > 0 ? sum / static_cast<double>(passes) : 1; }
};

/// A pass that is overlapped with another one: it runs layer by layer, and each layer in parts: the
/// operators before an all-to-all between experts, the all-to-all, and the operators after it.
class OverlappedPass {
public:
    virtual ~OverlappedPass() = default;

    /// Runs the operators before the first layer or, when no layer is left, those after the last
    /// one.
    virtual void run_outside() = 0;
    /// Goes on to the next layer and returns its number; unset if there is none.
    virtual std::optional<int> begin_layer() = 0;
    /// Runs the operators of the layer up to its next all-to-all or delayed weight gradients, or to
    /// its end. Precondition: no all-to-all is in flight.
    virtual void compute() = 0;
    /// Computes the delayed weight gradients if they are next; otherwise returns false.
    virtual bool weights() = 0;
    /// Launches the all-to-all if one is next; otherwise returns false.
    virtual bool all_to_all() = 0;
    /// Waits for the all-to-all that is in flight.
    virtual Interval await() = 0;
    virtual bool layer_is_done() const = 0;
    /// Whether an all-to-all is next.
    virtual bool all_to_all_is_next() const = 0;
    /// The result of forward() or backward(). Precondition: everything has run.
    virtual ArenaTensor finish() = 0;
};

/// The tokens that a rank received in a pass through a layer whose experts are shared or cut by
/// ranks.
struct ReceivedTokens {
    MicroBatch micro_batch;
    int layer = 0;
    std::int64_t received = 0;    ///< for this rank's part of its experts
    std::int64_t at_experts = 0;  ///< those, and those of the ranks that cut the same experts
};

/// Tensors that cross the boundaries of a stage are passed by value: a received buffer becomes the
/// input, the output becomes a send buffer, and the last owner frees it. They are empty at the ends
/// of the pipeline: tokens come from StepInputs, the loss goes to loss_total().
class StageRunner {
public:
    virtual ~StageRunner() = default;

    /// A buffer for an activation of one microbatch (slice) at the boundary of the stage, or for
    /// its gradient.
    virtual ArenaTensor edge(Message::Kind kind) = 0;

    /// Called before the first pass of a step. `inputs` must live until its end.
    virtual void begin_step(const StepInputs& inputs) = 0;
    /// Checks that nothing of the step is left.
    virtual void end_step() = 0;

    virtual ArenaTensor forward(const MicroBatch& micro_batch, ArenaTensor input) = 0;
    /// The fused backward; returns the gradient of the input.
    virtual ArenaTensor backward(const MicroBatch& micro_batch, ArenaTensor output_gradient) = 0;
    virtual ArenaTensor backward_input(const MicroBatch& micro_batch,
                                       ArenaTensor output_gradient) = 0;
    virtual void backward_weight(const MicroBatch& micro_batch) = 0;

    // The same passes, to be overlapped with another one.
    virtual std::unique_ptr<OverlappedPass> begin_forward(const MicroBatch&,
                                                          ArenaTensor /*input*/) {
        return nullptr;
    }
    /// `pass` is Backward or BackwardInput.
    virtual std::unique_ptr<OverlappedPass> begin_backward(Pass /*pass*/, const MicroBatch&,
                                                           ArenaTensor /*output_gradient*/) {
        return nullptr;
    }
    /// Whether these exist: not where passes gather their parameters layer by layer, nor where
    /// operators are timed.
    virtual bool can_overlap() const { return false; }
    /// Runs the forward again from the saved input, which leaves the tensors that the backward
    /// reads.
    virtual void recompute(const MicroBatch& micro_batch) = 0;
    /// Moves saved activations to memory outside the arena, and back.
    virtual void offload(const MicroBatch& micro_batch) = 0;
    virtual void reload(const MicroBatch& micro_batch) = 0;

    /// The sum of the loss over the microbatches whose forward ran in this step and over their
    /// non-ignored targets, not divided; zero where the stage has no head.
    virtual double loss_total() const = 0;
    /// The same sum of multi-token prediction over all of its depths, without its factor.
    virtual double ahead_loss_total() const { return 0; }
    /// The number of rows whose largest logit is the target's, for an evaluation.
    virtual double correct_total() const = 0;

    /// The terms that this stage's routers have added to the loss in this step, on this rank's
    /// tokens, with StepInputs::micro_batch_scale as their factor.
    virtual RouterTotals router_totals() const { return {}; }

    /// The load of this rank's experts in the forwards of the step.
    virtual ExpertLoad expert_load() const { return {}; }

    /// The tokens received in all passes of the last step.
    virtual std::vector<ReceivedTokens> received_tokens() const { return {}; }

    /// The time that passes have waited for collectives inside them, since the first pass.
    virtual HostTime communicated() const { return {}; }
};

}  // namespace debubble::exec
