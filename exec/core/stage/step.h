#pragma once

#include <cstdint>
#include <vector>

#include "base/ids.h"
#include "base/units.h"
#include "exec/core/communicator/communicator.h"
#include "exec/core/tensor.h"
#include "trace/action_log.h"

/// A training step as it reaches the stages of a rank: its inputs, and the actions between passes.
namespace debubble::exec {

// The inputs of one training step that come from outside the pipeline.

/// The tokens or images of a microbatch: whole sequences, also where passes work on slices of them.
struct MicroBatchInputs {
    ConstTensorView
        inputs;  ///< int32 tokens [samples, T], or fp32 images [samples, channels, H, W]
    ConstTensorView targets;  ///< int32 [samples, T], or classes [samples]
    /// Index in the global batch: dropout's random numbers depend on it.
    std::int64_t first_sample = 0;
};

struct StepInputs {
    std::int64_t step = 0;  ///< counts from 0; part of dropout's random stream
    std::uint64_t seed = 0;
    bool training = true;  ///< whether there are dropout and gradients; false to evaluate
    /// Loss scale divided by the number of non-ignored targets of the global batch.
    double gradient_scale = 1;
    /// Loss scale divided by the number of microbatches of all replicas: the factor of terms of the
    /// loss that are means over these.
    double micro_batch_scale = 1;
    std::int32_t ignore_index = -100;
    std::vector<MicroBatchInputs> micro_batches;  ///< by index
};

// The actions of a Program on parameters and gradients between passes.

/// Each call only launches; its request completes the action, on the thread that waits for it. The
/// interpreter waits for an unshard before the next pass of its stage, and for a reduction before
/// the next backward of its stage or the norm, whichever comes first. Before a pass it tells
/// whether the stage's reduction follows without another gradient in between: gradients that the
/// pass has completed may then be sent at once.
class StepActions {
public:
    virtual ~StepActions() = default;
    virtual void begin_step(std::int64_t step) = 0;

    virtual Pending unshard(Stage stage) = 0;
    virtual void reshard(Stage stage) = 0;
    virtual void reduction_follows(Stage /*stage*/) {}
    virtual Pending reduce_grad(Stage stage) = 0;
    virtual Pending tied_grad_reduce(Stage stage) = 0;
    virtual Pending grad_norm() = 0;
    virtual void optimizer_step() = 0;

    /// Sets the log of the actions above that are asked for.
    void log_to(ActionLog& log) { log_ = &log; }

    /// The bytes that this rank contributes to the collective of such an action, for the trace.
    virtual Bytes moved(const Action& /*action*/) const { return {}; }

protected:
    void did(const Action& action) {
        if (log_ != nullptr) log_->actions.push_back(action);
    }

private:
    ActionLog* log_ = nullptr;
};

}  // namespace debubble::exec
