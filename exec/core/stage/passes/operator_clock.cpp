#include "exec/core/stage/passes/pass_run.h"

namespace debubble::exec {

void OperatorClock::begin() {
    if (!tell_) return;
    if (lanes_ != nullptr)
        begin_mark_ = lanes_->mark(kComputeLane);
    else
        begin_ = Clock::now();
}

void OperatorClock::end(const models::StageGraph& graph, const models::Operator& op,
                        models::Part part) {
    if (!tell_) return;
    if (lanes_ != nullptr) {
        const Mark end = lanes_->mark(kComputeLane);
        timed_.push_back({&graph, &op, part, {begin_mark_, end}});
        begin_mark_ = end;
        return;
    }
    tell_(graph, op, part, Clock::now() - begin_);
    begin_ = Clock::now();  // the listener's time counts for no operator
}

void OperatorClock::end_sharding(std::chrono::nanoseconds waited) {
    if (!tell_) return;
    if (lanes_ != nullptr) {
        const Mark end = lanes_->mark(kComputeLane);
        timed_.push_back({nullptr, nullptr, {}, {begin_mark_, end}});
        begin_mark_ = end;
        return;
    }
    if (tell_of_sharding_) tell_of_sharding_(waited);
    begin_ = Clock::now();
}

void OperatorClock::end_step() {
    for (const Timed& it : timed_) {
        const auto took = lanes_->time_of(it.when.end) - lanes_->time_of(it.when.begin);
        if (it.op != nullptr)
            tell_(*it.graph, *it.op, it.part, took);
        else if (tell_of_sharding_)
            tell_of_sharding_(took);
    }
    timed_.clear();
}

}  // namespace debubble::exec
