#include "schedule/generators/plan_search.h"

#include <algorithm>
#include <tuple>

namespace debubble {
namespace {

/// Some 50 ms for a V; a large one gets a few tries more.
constexpr std::int64_t kBudget = 2'000'000;
constexpr std::int64_t kGreatestBudget = 40'000'000;
constexpr int kLeastTries = 14;
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

/// Lets ranks wait where the best plan so far waits anyway.
void consider_waiting(PlanSearch& search, const BuildingBlock& block) {
    using Choice = ListPolicy::Choice;
    for (const int share : {0, 50, 90})
        for (const auto choice : {Choice::Block, Choice::Alternate, Choice::BackwardFirst})
            search.consider({.choice = choice,
                             .block = &block,
                             .look_ahead = BuildingBlock::kPeriod,
                             .idle_allowance = search.most_idle() * share / 100});
}

/// The paper puts the weight passes into the units that are free at F = I = W,
/// whatever they cost.
void consider_as_at_equal_costs(PlanSearch& search, const std::vector<StepOrder>& order) {
    OrderProblem equal = search.problem();
    equal.costs = unit_costs();
    search.charge(1);
    const auto plan = list_schedule(equal, {.choice = ListPolicy::Choice::Fixed, .order = &order});
    if (plan) search.consider({.choice = ListPolicy::Choice::Fixed, .order = &plan->ranks});
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
        for (const bool places_weights : {false, true}) {
            if (search.spent() || (places_weights && !problem.splits_backward)) return;
            search.charge(1);
            std::vector<StepOrder> order =
                squeeze(problem, block, problem.live_limit + more, places_weights);
            if (places_weights) {
                search.consider({.choice = ListPolicy::Choice::Fixed, .order = &order});
                for (StepOrder& steps : order)
                    std::erase_if(steps,
                                  [](const Step& s) { return s.pass == Pass::BackwardWeight; });
            }
            for (const int percent : {100, 0}) {
                search.consider({.choice = ListPolicy::Choice::Fixed,
                                 .order = &order,
                                 .weight_fits_percent = percent});
                if (!problem.splits_backward) return;
            }
            consider_as_at_equal_costs(search, order);
        }
    }
}

/// One sweep; true if it found something better. The best plan, and with it the
/// neighbours still to come, changes on the way.
bool sweep_neighbours(PlanSearch& search) {
    bool improved = false;
    std::vector<StepOrder> order = search.best().ranks;
    for (StepOrder& steps : order) {
        for (std::size_t from = 0; from < steps.size(); ++from) {
            for (const std::size_t distance : {1, 2, 3, 5}) {
                const std::size_t to = from + distance;
                if (to >= steps.size() || search.spent()) break;
                const auto first = steps.begin() + static_cast<std::ptrdiff_t>(from);
                const auto last = first + static_cast<std::ptrdiff_t>(distance);
                // The earlier one behind the others, then the later one before them.
                std::rotate(first, first + 1, last + 1);
                if (search.consider({.choice = ListPolicy::Choice::Fixed, .order = &order})) {
                    improved = true;
                    continue;
                }
                std::rotate(first, last, last + 1);
                if (distance == 1) continue;
                std::rotate(first, last, last + 1);
                if (search.consider({.choice = ListPolicy::Choice::Fixed, .order = &order}))
                    improved = true;
                else
                    std::rotate(first, first + 1, last + 1);
            }
        }
    }
    return improved;
}

}  // namespace

PlanSearch::PlanSearch(const OrderProblem& problem, std::int64_t pass_budget)
    : problem_(&problem), budget_(pass_budget) {
    bound_.makespan = bound_.span = Duration{};
    Duration start{};  // when the first forward can reach the rank
    for (int rank = 0; rank < problem.shape.ranks; ++rank) {
        Duration work{};
        for (int chunk = 0; chunk < problem.chunks(); ++chunk) {
            const StageCosts& costs = problem.costs.of(Stage{problem.stage_of(rank, chunk)});
            work += (costs.forward + costs.backward()) * problem.shape.micro_batches;
        }
        bound_.span = std::max(bound_.span, work);
        bound_.makespan = std::max(bound_.makespan, start + work);
        start += problem.costs.of(Stage{rank}).forward + problem.costs.link;
    }
}

bool PlanSearch::better(const Plan& a, const Plan& b) const {
    if (problem_->by_span) return std::tie(a.span, a.makespan) < std::tie(b.span, b.makespan);
    return std::tie(a.makespan, a.span) < std::tie(b.makespan, b.span);
}

bool PlanSearch::consider(const ListPolicy& policy) {
    if (spent()) return false;
    budget_ -= problem_->passes();
    std::optional<Plan> plan = list_schedule(*problem_, policy);
    if (!plan || !better(*plan, best_)) return false;
    best_ = std::move(*plan);
    return true;
}

void improve_order(PlanSearch& search) {
    while (!search.spent() && sweep_neighbours(search)) {
    }
}

Plan search_v_order(const OrderProblem& problem, const BlockStrides& published) {
    PlanSearch search(problem,
                      std::max(kBudget, std::min(kLeastTries * problem.passes(), kGreatestBudget)));
    const int backward_units = problem.splits_backward ? 1 : 2;
    std::vector<BuildingBlock> tried;
    const auto consider = [&](const BlockStrides& strides) {
        const auto block = lay_block(problem.shape.ranks, strides, backward_units);
        if (!block || std::find(tried.begin(), tried.end(), *block) != tried.end()) return;
        tried.push_back(*block);
        consider_block(search, *block);
    };
    consider(published);
    consider_greedy(search);
    if (!tried.empty()) consider_waiting(search, tried.front());
    for (int wait = 1; wait <= 6; ++wait)
        for (int wait_again = 1; wait_again <= 6; ++wait_again)
            for (const auto& way : kWays) {
                if (search.spent()) return search.best();
                consider({way, wait, wait_again});
            }
    improve_order(search);
    return search.best();
}

}  // namespace debubble
