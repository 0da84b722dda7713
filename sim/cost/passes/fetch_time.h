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

/// Kernels on one lane and gathers and reductions on another, which runs them in the order of
/// issue: both are slower while the other runs (contention.h).
class FetchLanes {
public:
    explicit FetchLanes(const Contention& contention) : contention_(contention) {}

    /// Seconds since the beginning.
    double now() const { return now_; }
    /// Enqueues a transfer of `seconds` on the lane. `parameter` arrives with it; -1: none.
    void enqueue(double seconds, int parameter) { queue_.push_back({seconds, parameter}); }
    /// Runs kernels of `seconds`. `room` is the share of that time in which communication may use
    /// the links.
    void run(double seconds, double room);
    /// Waits until the parameter has arrived, if it is on the lane.
    void await(int parameter);
    /// Waits until everything on the lane has arrived.
    void await_all();

private:
    struct Transfer {
        double left = 0;  ///< seconds
        int parameter = 0;
    };
    void arrive();

    Contention contention_;
    double now_ = 0;
    std::deque<Transfer> queue_;
};

/// A gather is one collective for the missing parameters of an operator, and one for its
/// prefetches; parameters arrive one after the other. The gradients of a layer are reduced
/// together, when the last of them is made, and the rest, with those outside of layers, at the end.
/// A backward that makes gradients ends when all are reduced. `lanes` are initially as the previous
/// pass left them.
ShardingTime fetch_time(const scenarios::Scenario& scenario, const FetchPlan& plan,
                        const FetchPass& pass, const PassTime& time, PassUse use,
                        FetchLanes& lanes);

}  // namespace debubble::sim
