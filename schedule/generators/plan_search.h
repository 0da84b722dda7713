#pragma once

#include "schedule/generators/building_block.h"
#include "schedule/generators/list_scheduling.h"
#include "schedule/generators/order_search.h"

namespace debubble {

/// Tries orders within a budget and keeps the best. The budget is counted in
/// passes played, not in seconds, so that the result is the same on every machine.
class PlanSearch {
public:
    PlanSearch(const OrderProblem& problem, std::int64_t pass_budget)
        : problem_(&problem), budget_(pass_budget) {}

    /// Plays the policy and keeps its plan if it is better. Nothing once the
    /// budget is spent and there is a plan.
    bool consider(const ListPolicy& policy);
    bool spent() const { return budget_ <= 0 && found(); }
    bool found() const { return !best_.ranks.empty(); }
    const Plan& best() const { return best_; }
    const OrderProblem& problem() const { return *problem_; }

private:
    const OrderProblem* problem_;
    std::int64_t budget_;
    Plan best_;
};

/// The V family: greedy orders, then building blocks, squeezed or played.
/// `published` are the strides of the schedule's paper and are tried first.
Plan search_v_order(const OrderProblem& problem, const BlockStrides& published);

}  // namespace debubble
