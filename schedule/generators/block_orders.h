#pragma once

#include <deque>
#include <mutex>
#include <unordered_map>
#include <vector>

#include "schedule/generators/building_block.h"
#include "schedule/generators/list_scheduling.h"
#include "schedule/generators/order_search.h"

namespace debubble {

/// An order to try, out of a building block.
struct BlockOrder {
    const std::vector<StepOrder>* order = nullptr;  ///< null: the same has come before
    bool complete = true;                           ///< with its weight passes
    int found_at = 0;                               ///< cost, in times that all passes are played
    int tries = 1;                                  ///< ways to play it, at that cost each
};

/// A building block, and what squeezing it gives, in the order of trying.
struct BlockOrders {
    BuildingBlock block;
    /// An earlier block differs by a shift per rank only, and plays the same.
    bool plays_like_earlier = false;
    std::vector<BlockOrder> orders;
};

/// The building blocks that a search of the V family tries, and their orders.
/// They depend on the shape and the memory limit and not on the costs, so that
/// the plans of a sweep share them. Made as they are asked for; thread-safe.
class BlockLibrary {
public:
    /// The costs of the problem are not looked at.
    BlockLibrary(const OrderProblem& problem, const BlockStrides& published);

    /// Whether the first is the block of the published strides: they may not fit.
    bool starts_with_published() const { return starts_with_published_; }
    /// Null past the last. The library keeps it.
    const BlockOrders* at(std::size_t index);

private:
    struct OrderHash {
        std::size_t operator()(const std::vector<StepOrder>& order) const;
    };

    void lay(const BlockStrides& published);
    BlockOrders squeezed(const BuildingBlock& block);
    void add(BlockOrders& to, std::vector<StepOrder> order, int found_at);
    void add_without_weights(BlockOrders& to, std::vector<StepOrder> order, int found_at);

    OrderProblem problem_;  ///< at F = I = W
    bool starts_with_published_ = false;
    std::vector<BuildingBlock> blocks_;
    std::mutex mutex_;
    ListScheduler scheduler_;
    std::deque<BlockOrders> made_;
    /// Every order so far; false for one without weight passes that gets stuck
    /// when it is played at equal costs.
    std::unordered_map<std::vector<StepOrder>, bool, OrderHash> orders_;
};

}  // namespace debubble
