#pragma once

#include <algorithm>
#include <cstdint>

#include "schedule/generators/search/building_block.h"
#include "schedule/generators/search/list_scheduling.h"
#include "schedule/generators/search/order_player.h"
#include "schedule/generators/search/order_search.h"

namespace debubble {

/// Tries orders within a budget and keeps the best. The budget is counted in
/// passes played, not in seconds, so that the result is the same on every machine.
class PlanSearch {
public:
    PlanSearch(const OrderProblem& problem, std::int64_t pass_budget);

    /// Plays the policy and keeps its plan if it is better. Does nothing once the budget is spent
    /// and there is a plan.
    bool consider(const ListPolicy& policy);
    /// The same for a complete order.
    bool consider(const std::vector<StepOrder>& order);
    /// Counts work other than playing: as much as playing all passes `times`.
    void charge(int times) { budget_ -= times * problem_->passes(); }
    bool spent() const {
        return found() && (budget_ <= 0 || !shorter(*problem_, bound_, best_.length));
    }
    void leave_at_most(std::int64_t passes) { budget_ = std::min(budget_, passes); }
    /// The share of the best plan's length by which the bound is shorter; no other plan can gain
    /// more.
    double gap() const;
    bool found() const { return !best_.ranks.empty(); }
    /// The time that the best plan lets its longest rank wait.
    Duration most_idle() const { return found() ? best_.length.span - bound_.span : Duration{}; }
    const OrderPlan& best() const { return best_; }
    const OrderProblem& problem() const { return *problem_; }

private:
    const OrderProblem* problem_;
    ListScheduler scheduler_;
    OrderPlayer player_;
    std::int64_t budget_;
    PlanLength bound_;  ///< no plan is shorter
    OrderPlan best_;
};

/// Moves single passes of the best plan back and forth, as long as it gets shorter. Moves that
/// cannot shorten it are charged like the others, but not played.
void improve_order(PlanSearch& search);

}  // namespace debubble
