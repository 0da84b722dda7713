#include "schedule/generators/v_order.h"

#include <algorithm>

#include "base/memo.h"
#include "schedule/generators/search/block_orders.h"
#include "schedule/generators/search/plan_search.h"
#include "schedule/generators/shape_needs.h"

namespace debubble {
namespace {

/// Some 50 ms for a V; a large one gets a few more tries.
constexpr std::int64_t kUsualBudget = 2'000'000;
constexpr std::int64_t kGreatestBudget = 40'000'000;
constexpr int kLeastTries = 14;
/// A plan that exceeds its bound by less than this share of its length gets a search in proportion:
/// at a tenth of it, a tenth of the effort.
constexpr double kGapWorthAllBlocks = 0.2;
constexpr double kGapWorthAllMoves = 0.1;
/// The most blocks in a row that may be tried in vain: for all but a few blocks, and when little is
/// left to gain.
constexpr int kMostVainBlocks = 160;
constexpr int kLeastVainBlocks = 3;

int patience(const PlanSearch& search) {
    const double share = std::min(1.0, search.gap() / kGapWorthAllBlocks);
    return std::max(kLeastVainBlocks, static_cast<int>(kMostVainBlocks * share));
}

void consider_greedy(PlanSearch& search) {
    for (const auto choice : {ListPolicy::Choice::Alternate, ListPolicy::Choice::BackwardFirst})
        for (const int percent : {100, 50, 0})
            search.consider({.choice = choice, .weight_fits_percent = percent});
}

/// Lets ranks wait where the best plan so far waits anyway.
void consider_waiting(PlanSearch& search, const BuildingBlock& block) {
    using enum ListPolicy::Choice;
    for (const int share : {0, 50, 90})
        for (const auto choice : {Block, Alternate, BackwardFirst})
            search.consider({.choice = choice,
                             .block = &block,
                             .look_ahead = BuildingBlock::kPeriod,
                             .idle_allowance = search.most_idle() * share / 100});
}

void consider_block(PlanSearch& search, const BlockOrders& block) {
    const bool split = search.problem().splits_backward;
    for (const int percent : {100, 0}) {
        for (const int look_ahead : {3, 6}) {
            if (block.plays_like_earlier)
                search.charge(1);
            else
                search.consider({.choice = ListPolicy::Choice::Block,
                                 .block = &block.block,
                                 .look_ahead = look_ahead,
                                 .weight_fits_percent = percent});
        }
        if (!split) break;
    }
    for (const BlockOrder& found : block.orders) {
        search.charge(found.found_at);
        if (found.order == nullptr) {
            search.charge(found.tries);
        } else if (found.complete) {
            search.consider(*found.order);
        } else {
            for (const int percent : {100, 0})
                search.consider({.choice = ListPolicy::Choice::Fixed,
                                 .order = found.order,
                                 .weight_fits_percent = percent});
        }
    }
}

/// The results of earlier searches that are kept: some 10 MB of plans and, for searches with the
/// default budget, as much per library at worst.
constexpr std::size_t kMostPlansKept = 128;
constexpr std::size_t kMostLibrariesKept = 16;
constexpr std::int64_t kMostPassesKept = 20'000;

struct SearchKey {
    OrderProblem problem;
    BlockStrides published;
    friend bool operator==(const SearchKey&, const SearchKey&) = default;
};

OrderPlan search_anew(const OrderProblem& problem, BlockLibrary& library) {
    const std::int64_t budget =
        std::max(kUsualBudget, std::min(kLeastTries * problem.passes(), kGreatestBudget));
    PlanSearch search(problem, budget);
    std::size_t next = 0;
    if (library.starts_with_published()) consider_block(search, *library.at(next++));
    consider_greedy(search);
    if (next > 0) consider_waiting(search, library.at(0)->block);
    for (int vain = 0; !search.spent() && vain < patience(search); ++next) {
        const BlockOrders* block = library.at(next);
        if (block == nullptr) break;
        const PlanLength before = search.best().length;
        consider_block(search, *block);
        vain = shorter(problem, search.best().length, before) ? 0 : vain + 1;
    }
    const double share = std::min(1.0, search.gap() / kGapWorthAllMoves);
    search.leave_at_most(static_cast<std::int64_t>(static_cast<double>(budget) * share));
    improve_order(search);
    return search.best();
}

}  // namespace

OrderPlan search_v_order(const OrderProblem& problem, const BlockStrides& published) {
    // The plans of a sweep ask again and again for the same.
    static auto& plans = *new Memo<SearchKey, OrderPlan>(kMostPlansKept);
    static auto& libraries = *new Memo<SearchKey, BlockLibrary>(kMostLibrariesKept);
    if (problem.passes() > kMostPassesKept) {
        BlockLibrary library(problem, published);
        return search_anew(problem, library);
    }
    return *plans.get({problem, published}, [&] {
        OrderProblem any_costs = problem;
        any_costs.costs = unit_costs();
        any_costs.by_span = false;
        const auto library = libraries.get({any_costs, published}, [&] {
            return std::make_unique<BlockLibrary>(any_costs, published);
        });
        return std::make_unique<OrderPlan>(search_anew(problem, *library));
    });
}

Reason v_shape_with_costs(const PipelineShape& shape, const GeneratorOptions& options) {
    if (Reason reason = shape_reason(shape, {.stages_per_rank = 2})) return reason;
    return costs_reason(shape, options.costs);
}

}  // namespace debubble
