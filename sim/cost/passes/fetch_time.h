#pragma once

#include <deque>

#include "scenarios/plan/scenario.h"
#include "sim/cost/passes/contention.h"
#include "sim/cost/passes/pass_time.h"
#include "sim/cost/passes/sharding_prices.h"
#include "sim/memory/fetch_plan.h"
#include "sim/memory/sharded_units.h"

/// The time of gathering and reducing inside a pass within DeepSpeed's limits (fetch_plan.h).
namespace debubble::sim {

/// Kernels on one lane and gathers and reductions on another, which take them in the order asked:
/// both are slower while the other runs (contention.h).
class FetchLanes {
public:
    explicit FetchLanes(const Contention& contention) : contention_(contention) {}

    /// Seconds since the beginning.
    double now() const { return now_; }
    /// Puts communication of so many seconds behind what is on the lane already. `parameter`
    /// arrives with it; -1: none.
    void ask(double seconds, int parameter) { asked_.push_back({seconds, parameter}); }
    /// Kernels of so many seconds run. `room` is the share of that time in which communication may
    /// use the links.
    void run(double seconds, double room);
    /// Nothing runs until the parameter has arrived, if it is on the lane.
    void await(int parameter);
    /// Nothing runs until all that was asked for has arrived.
    void await_all();

private:
    struct Asked {
        double left = 0;  ///< seconds
        int parameter = 0;
    };
    void arrive();

    Contention contention_;
    double now_ = 0;
    std::deque<Asked> asked_;
};

/// A gather is one collective for what an operator lacks, and one for what it asks for ahead;
/// parameters arrive one after the other. The gradients of a layer are reduced together, when the
/// last of them is made, and the rest, with those outside of layers, at the end. A backward that
/// makes gradients ends when all are reduced. `lanes` begin as the pass before has left them.
ShardingTime fetch_time(const scenarios::Scenario& scenario, const FetchPlan& plan,
                        const FetchPass& pass, const PassTime& time, PassUse use,
                        FetchLanes& lanes);

}  // namespace debubble::sim
