#include "exec/core/interpreter/communications.h"

#include <utility>

namespace debubble::exec {

void Collectives::unshard(Stage stage) {
    ask(Unshard{stage}, [&] { return actions_.unshard(stage); });
}

void Collectives::reshard(Stage stage) {
    finish_gather(stage);
    const Moment begin = recorder_.now();
    actions_.reshard(stage);
    recorder_.span(Reshard{stage}, begin, recorder_.now());
}

void Collectives::reduce_grad(Stage stage) {
    finish_if([&](const Action& open) { return open == Action{ReduceGrad{stage}}; });
    ask(ReduceGrad{stage}, [&] { return actions_.reduce_grad(stage); });
}

/// The operand is the result of the reductions before it.
void Collectives::tied_grad_reduce(Stage stage) {
    finish_reductions();
    ask(TiedGradReduce{stage}, [&] { return actions_.tied_grad_reduce(stage); });
}

void Collectives::grad_norm() {
    finish_reductions();
    ask(GradNorm{}, [&] { return actions_.grad_norm(); });
}

void Collectives::before_pass(const Compute& compute) {
    finish_gather(compute.stage);
    if (compute.pass == Pass::Forward) return;
    finish_if([&](const Action& open) {
        const auto* reduction = std::get_if<ReduceGrad>(&open);
        return reduction != nullptr && reduction->stage == compute.stage;
    });
}

void Collectives::finish() {
    finish_if([](const Action&) { return true; });
}

void Collectives::finish_gather(Stage stage) {
    finish_if([&](const Action& open) { return open == Action{Unshard{stage}}; });
}

void Collectives::finish_reductions() {
    finish_if([](const Action& open) { return !std::holds_alternative<Unshard>(open); });
}

/// If no request is made, the action is done: there was nothing to do.
void Collectives::ask(const Action& action, const std::function<Pending()>& request) {
    const Moment asked = recorder_.now();
    open_.push_back({action, asked, asked_++, request()});
}

void Collectives::finish_if(const std::function<bool(const Action&)>& is_needed) {
    for (auto open = open_.begin(); open != open_.end();) {
        if (!is_needed(open->action)) {
            ++open;
            continue;
        }
        const Interval when = open->request ? open->request->wait(within(patience_))
                                            : Interval{open->asked.at, open->asked.at};
        recorder_.collective(open->action, open->asked, open->number, when,
                             actions_.moved(open->action));
        open = open_.erase(open);
    }
}

}  // namespace debubble::exec
