#pragma once

#include <deque>
#include <mutex>
#include <unordered_map>
#include <vector>

#include "schedule/generators/search/building_block.h"
#include "schedule/generators/search/list_scheduling.h"
#include "schedule/generators/search/order_search.h"

namespace debubble {

/// An order to try that a building block gives.
struct BlockOrder {
    const std::vector<StepOrder>* order = nullptr;  ///< null if the same order has come before
    bool complete = true;                           ///< true if it has its weight passes
    int found_at = 0;                               ///< cost, as a number of times that all passes
                                                    ///< are played
    int tries = 1;                                  ///< number of ways to play it, at that cost
                                                    ///< each
};

/// A building block and the orders that squeezing it gives, in the order of trying.
struct BlockOrders {
    BuildingBlock block;
    /// True if an earlier block differs only by a shift per rank, and so plays the same.
    bool plays_like_earlier = false;
    std::vector<BlockOrder> orders;
};

/// The building blocks that a search of the V family tries, and their orders. They depend on the
/// shape and the memory limit and not on the costs, so that the plans of a sweep share them. They
/// are made when they are asked for; thread-safe.
class BlockLibrary {
public:
    /// Does not look at the costs of the problem.
    BlockLibrary(const OrderProblem& problem, const BlockStrides& published);

    /// True if the first is the block of the published strides, which may not fit.
    bool starts_with_published() const { return starts_with_published_; }
    /// Null past the last. The library keeps ownership.
    const BlockOrders* at(std::size_t index);

private:
    struct OrderHash {
        std::size_t operator()(const std::vector<StepOrder>& order) const;
    };

    void lay(const BlockStrides& published);
    BlockOrders squeezed(const BuildingBlock& block);
    void add(BlockOrders& to, std::vector<StepOrder> order, int found_at);
    void add_without_weights(BlockOrders& to, std::vector<StepOrder> order, int found_at);

    OrderProblem problem_;  ///< the problem at F = I = W
    bool starts_with_published_ = false;
    std::vector<BuildingBlock> blocks_;
    std::mutex mutex_;
    ListScheduler scheduler_;
    std::deque<BlockOrders> made_;
    /// Every order so far; false for one without weight passes that deadlocks when it is played at
    /// equal costs.
    std::unordered_map<std::vector<StepOrder>, bool, OrderHash> orders_;
};

}  // namespace debubble
