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

/// How full the experts of a rank were: the rows that came to them, relative to the rows of the
/// rank's own tokens, over passes through layers whose experts ranks share or cut.
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

/// A pass that takes turns with another one: it runs its layers one by one, and of each what comes
/// before an exchange of rows between experts, the exchange, and what comes after it.
class PassInTurns {
public:
    virtual ~PassInTurns() = default;

    /// Runs what comes before the first layer or, when no layer is left, after the last one.
    virtual void run_outside() = 0;
    /// Goes on to the next layer, whose number it gives; unset: there is none.
    virtual std::optional<int> begin_layer() = 0;
    /// Runs the operators of the layer up to its next exchange or delayed weight gradients, or to
    /// its end. Precondition: no
    /// exchange is under way.
    virtual void compute() = 0;
    /// Computes the delayed weight gradients that come next; false if none do.
    virtual bool weights() = 0;
    /// Asks for the exchange that comes next; false if none does.
    virtual bool exchange() = 0;
    /// Waits for the exchange that is under way.
    virtual Interval await() = 0;
    virtual bool layer_is_done() const = 0;
    /// Whether an exchange comes next.
    virtual bool exchanges_next() const = 0;
    /// What forward() or backward() would have given. Precondition: everything has run.
    virtual ArenaTensor finish() = 0;
};

/// The rows that came to a rank in a pass through a layer whose experts ranks share or cut.
struct RowsOfPass {
    MicroBatch micro_batch;
    int layer = 0;
    std::int64_t received = 0;    ///< for the rank's part of its experts
    std::int64_t at_experts = 0;  ///< those, and those of the ranks that cut the experts with it
};

/// Tensors that cross the edges of a stage are passed by value: a received buffer becomes the
/// input, the output becomes a send buffer, and the last owner frees it. At the ends of the
/// pipeline edges are empty: tokens come from StepInputs, the loss goes to loss_total().
class StageRunner {
public:
    virtual ~StageRunner() = default;

    /// A buffer of the size of an edge: an activation of one microbatch (slice), or its gradient.
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

    // The same passes, to be run in turns with another one.
    virtual std::unique_ptr<PassInTurns> begin_forward(const MicroBatch&, ArenaTensor /*input*/) {
        return nullptr;
    }
    /// `pass` is Backward or BackwardInput.
    virtual std::unique_ptr<PassInTurns> begin_backward(Pass /*pass*/, const MicroBatch&,
                                                        ArenaTensor /*output_gradient*/) {
        return nullptr;
    }
    /// Whether it has them: not where passes gather their parameters layer by layer, nor where
    /// operators are timed.
    virtual bool takes_turns() const { return false; }
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

    /// The rows of all passes of the last step.
    virtual std::vector<RowsOfPass> rows_that_came() const { return {}; }

    /// The time for which passes have stood still for collectives inside them, since the first
    /// pass.
    virtual HostTime communicated() const { return {}; }
};

}  // namespace debubble::exec
