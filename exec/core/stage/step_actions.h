#pragma once

#include <cstdint>

#include "base/ids.h"
#include "base/units.h"
#include "exec/core/communicator/communicator.h"
#include "trace/action_log.h"

/// What a Program does with parameters and gradients between passes.
namespace debubble::exec {

/// Each call only asks; its request completes the action, on the thread that waits for it.
/// The interpreter waits for an unshard before the next pass of its stage, for a reduction before
/// the next backward of its stage or the norm, whichever comes first. It says before a pass if
/// the stage's reduction follows, with no gradient of it in between: what the pass is done with
/// may begin its way then.
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

    /// Where it is told from now on which of the actions above was asked for.
    void log_to(ActionLog& log) { log_ = &log; }

    /// What this rank hands to the collective of an action of those above, for the trace.
    virtual Bytes moved(const Action& /*action*/) const { return {}; }

protected:
    void did(const Action& action) {
        if (log_ != nullptr) log_->actions.push_back(action);
    }

private:
    ActionLog* log_ = nullptr;
};

}  // namespace debubble::exec
