#pragma once

#include <chrono>
#include <functional>
#include <list>

#include "exec/core/interpreter/step_record.h"
#include "exec/core/stage/step_actions.h"

namespace debubble::exec {

/// The gathers and reductions of a rank that are asked for and not finished: they run at the same
/// time as computes, until something needs them.
class Collectives {
public:
    Collectives(StepActions& actions, Recorder& recorder, std::chrono::nanoseconds patience)
        : actions_(actions), recorder_(recorder), patience_(patience) {}

    void unshard(Stage stage);
    void reshard(Stage stage);
    void reduce_grad(Stage stage);
    void tied_grad_reduce(Stage stage);
    void grad_norm();

    /// Waits before a pass: a pass of the stage needs its parameters, and one that adds to its
    /// gradients must not coincide with their reduction.
    void before_pass(const Compute& compute);
    /// Waits for all requests: the optimizer needs them.
    void finish();

private:
    struct Open {
        Action action;
        Moment asked;
        int number = 0;  ///< index among the requests
        Pending request;
    };
    void ask(const Action& action, const std::function<Pending()>& request);
    void finish_if(const std::function<bool(const Action&)>& is_needed);
    void finish_gather(Stage stage);
    void finish_reductions();

    StepActions& actions_;
    Recorder& recorder_;
    std::chrono::nanoseconds patience_;
    std::list<Open> open_;  ///< in the order in which they were asked for
    int asked_ = 0;
};

}  // namespace debubble::exec
