#include "schedule/generators/search/plan_search.h"

namespace debubble {

PlanSearch::PlanSearch(const OrderProblem& problem, std::int64_t pass_budget)
    : problem_(&problem), scheduler_(problem), player_(problem), budget_(pass_budget) {
    bound_ = {Duration{}, Duration{}};
    Duration start{};  // time when the first forward can reach the rank
    for (int rank = 0; rank < problem.shape.ranks; ++rank) {
        const Duration work = problem.work_of(rank);
        bound_.span = std::max(bound_.span, work);
        bound_.makespan = std::max(bound_.makespan, start + work);
        start += problem.costs.of(Stage{rank}).forward + problem.costs.link;
    }
}

double PlanSearch::gap() const {
    if (!found()) return 1;
    const Duration length = problem_->by_span ? best_.length.span : best_.length.makespan;
    const Duration bound = problem_->by_span ? bound_.span : bound_.makespan;
    return length.count() == 0 ? 0 : 1 - seconds(bound) / seconds(length);
}

bool PlanSearch::consider(const ListPolicy& policy) {
    if (spent()) return false;
    budget_ -= problem_->passes();
    const std::optional<PlanLength> length = scheduler_.play(policy, best_.length);
    if (!length) return false;
    best_ = {scheduler_.order(), *length};
    return true;
}

bool PlanSearch::consider(const std::vector<StepOrder>& order) {
    if (spent()) return false;
    budget_ -= problem_->passes();
    const std::optional<PlanLength> length = player_.play(order, best_.length);
    if (!length) return false;
    best_ = {order, *length};
    return true;
}

}  // namespace debubble
