#include "schedule/generators/search/block_orders.h"

#include <algorithm>

namespace debubble {
namespace {

/// Limit of the cells of squeezing, which keeps one per rank and unit of time.
constexpr std::int64_t kMostCells = 4'000'000;

/// Those of all strides from 1 to 4 that were best somewhere, over 2 to 8 ranks, the three memory
/// limits of the papers and six sets of costs.
constexpr std::array<std::array<int, 4>, 8> kStrides{{{1, 1, 1, 1},
                                                      {2, 1, 1, 1},
                                                      {1, 4, 1, 1},
                                                      {1, 1, 2, 1},
                                                      {1, 2, 1, 1},
                                                      {2, 2, 1, 1},
                                                      {1, 1, 3, 1},
                                                      {1, 2, 2, 1}}};

/// The block with every rank's passes counted from its first.
BuildingBlock without_shifts(BuildingBlock block) {
    for (std::array<int, 4>& start : block.start) {
        const int first = *std::ranges::min_element(start);
        for (int& unit : start) unit -= first;
    }
    return block;
}

OrderProblem at_equal_costs(OrderProblem problem) {
    problem.costs = unit_costs();
    return problem;
}

bool contains(const std::vector<BuildingBlock>& blocks, const BuildingBlock& block) {
    return std::ranges::find(blocks, block) != blocks.end();
}

}  // namespace

std::size_t BlockLibrary::OrderHash::operator()(const std::vector<StepOrder>& order) const {
    std::size_t hash = 0;
    for (const StepOrder& steps : order)
        for (const Step& step : steps) hash = hash * 31 + 2 * position_of(step.pass) + step.chunk;
    return hash;
}

BlockLibrary::BlockLibrary(const OrderProblem& problem, const BlockStrides& published)
    : problem_(at_equal_costs(problem)), scheduler_(problem_) {
    lay(published);
}

void BlockLibrary::lay(const BlockStrides& published) {
    const auto add = [&](const BlockStrides& strides) {
        auto block = lay_block(problem_.shape.ranks, strides, problem_.splits_backward ? 1 : 2);
        if (block && !contains(blocks_, *block)) blocks_.push_back(std::move(*block));
    };
    add(published);
    starts_with_published_ = !blocks_.empty();
    for (int wait = 1; wait <= 6; ++wait)
        for (int wait_again = 1; wait_again <= 6; ++wait_again)
            for (const auto& way : kStrides) add({way, wait, wait_again});
}

const BlockOrders* BlockLibrary::at(std::size_t index) {
    const std::lock_guard lock(mutex_);
    if (index >= blocks_.size()) return nullptr;
    while (made_.size() <= index) made_.push_back(squeezed(blocks_[made_.size()]));
    return &made_[index];
}

void BlockLibrary::add(BlockOrders& to, std::vector<StepOrder> order, int found_at) {
    const auto [place, is_new] = orders_.try_emplace(std::move(order), true);
    to.orders.push_back({is_new ? &place->first : nullptr, true, found_at, 1});
}

/// Adds it twice: with weight passes placed by the costs, and as in the paper, in the units that
/// are free at F = I = W, whatever they cost.
void BlockLibrary::add_without_weights(BlockOrders& to, std::vector<StepOrder> order,
                                       int found_at) {
    const auto [place, is_new] = orders_.try_emplace(std::move(order), true);
    bool& plays = place->second;
    to.orders.push_back({is_new ? &place->first : nullptr, false, found_at, 2});
    if (is_new)
        plays = scheduler_.play({.choice = ListPolicy::Choice::Fixed, .order = &place->first})
                    .has_value();
    if (is_new && plays)
        add(to, scheduler_.order(), 1);
    else
        to.orders.push_back({nullptr, true, 1, plays ? 1 : 0});
}

BlockOrders BlockLibrary::squeezed(const BuildingBlock& block) {
    BlockOrders result{block, false, {}};
    const BuildingBlock relative = without_shifts(block);
    for (std::size_t i = 0; i < made_.size() && !result.plays_like_earlier; ++i)
        result.plays_like_earlier = without_shifts(blocks_[i]) == relative;

    const int units = block.start.front()[2] + 2 * BuildingBlock::kPeriod +
                      BuildingBlock::kPeriod * problem_.shape.micro_batches;
    if (std::int64_t{units} * problem_.shape.ranks > kMostCells) return result;
    const int limit = problem_.live_limit(0);  // a V has the same for all ranks
    if (!problem_.splits_backward) {
        add(result, squeeze(problem_, block, limit, false), 1);
        return result;
    }
    // One more activation is right where a forward may wait for a weight pass.
    for (const int more : {0, 1}) {
        add_without_weights(result, squeeze(problem_, block, limit + more, false), 1);
        std::vector<StepOrder> order = squeeze(problem_, block, limit + more, true);
        add(result, order, 1);
        for (StepOrder& steps : order)
            std::erase_if(steps, [](const Step& s) { return s.pass == Pass::BackwardWeight; });
        add_without_weights(result, std::move(order), 0);
    }
    return result;
}

}  // namespace debubble
