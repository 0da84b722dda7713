#pragma once

#include <cstdint>

#include "base/ids.h"
#include "base/units.h"
#include "exec/core/communicator/communicator.h"
#include "trace/action_log.h"

/// The actions of a Program on parameters and gradients between passes.
namespace debubble::exec {

/// Each call only asks; its request completes the action, on the thread that waits for it. The
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
