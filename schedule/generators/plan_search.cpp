#include "schedule/generators/plan_search.h"

#include <algorithm>

namespace debubble {
namespace {

/// About 0.1 s.
constexpr std::int64_t kBudget = 2'000'000;
/// Squeezing keeps a cell per rank and unit of time.
constexpr std::int64_t kMostCells = 4'000'000;

/// Of all strides from 1 to 4, those that were best somewhere, over 2 to 8
/// ranks, the three memory limits of the papers and six sets of costs.
constexpr std::array<std::array<int, 4>, 8> kWays{{{1, 1, 1, 1},
                                                   {2, 1, 1, 1},
                                                   {1, 4, 1, 1},
                                                   {1, 1, 2, 1},
                                                   {1, 2, 1, 1},
                                                   {2, 2, 1, 1},
                                                   {1, 1, 3, 1},
                                                   {1, 2, 2, 1}}};

void consider_greedy(PlanSearch& search) {
    for (const auto choice : {ListPolicy::Choice::Alternate, ListPolicy::Choice::BackwardFirst})
        for (const int percent : {100, 50, 0})
            search.consider({.choice = choice, .weight_fits_percent = percent});
}

void consider_block(PlanSearch& search, const BuildingBlock& block) {
    const OrderProblem& problem = search.problem();
    for (const int percent : {100, 0}) {
        for (const int look_ahead : {3, 6})
            search.consider({.choice = ListPolicy::Choice::Block,
                             .block = &block,
                             .look_ahead = look_ahead,
                             .weight_fits_percent = percent});
        if (!problem.splits_backward) break;
    }
    const int units = block.start.front()[2] + 2 * BuildingBlock::kPeriod +
                      BuildingBlock::kPeriod * problem.shape.micro_batches;
    if (std::int64_t{units} * problem.shape.ranks > kMostCells) return;
    // One activation more is right where a forward may wait for a weight pass.
    for (const int more : {0, 1}) {
        const std::vector<StepOrder> order = squeeze(problem, block, problem.live_limit + more);
        for (const int percent : {100, 0}) {
            search.consider({.choice = ListPolicy::Choice::Fixed,
                             .order = &order,
                             .weight_fits_percent = percent});
            if (!problem.splits_backward) break;
        }
        if (!problem.splits_backward) break;
    }
}

}  // namespace

bool PlanSearch::consider(const ListPolicy& policy) {
    if (spent()) return false;
    budget_ -= problem_->passes();
    std::optional<Plan> plan = list_schedule(*problem_, policy);
    if (!plan || !plan->better_than(best_)) return false;
    best_ = std::move(*plan);
    return true;
}

Plan search_v_order(const OrderProblem& problem, const BlockStrides& published) {
    PlanSearch search(problem, kBudget);
    consider_greedy(search);
    const int backward_units = problem.splits_backward ? 1 : 2;
    std::vector<BuildingBlock> tried;
    const auto consider = [&](const BlockStrides& strides) {
        const auto block = lay_block(problem.shape.ranks, strides, backward_units);
        if (!block || std::find(tried.begin(), tried.end(), *block) != tried.end()) return;
        tried.push_back(*block);
        consider_block(search, *block);
    };
    consider(published);
    for (int wait = 1; wait <= 6; ++wait)
        for (int wait_again = 1; wait_again <= 6; ++wait_again)
            for (const auto& way : kWays) {
                if (search.spent()) return search.best();
                consider({way, wait, wait_again});
            }
    return search.best();
}

}  // namespace debubble
