#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "schedule/generators/search/building_block.h"
#include "schedule/generators/search/order_search.h"

namespace debubble {

/// The rule by which a free rank chooses among the passes whose inputs have arrived.
struct ListPolicy {
    enum class Choice {
        BackwardFirst,  ///< drain before filling, the later chunk first
        Alternate,      ///< the other direction than last time, if it can
        Block,          ///< the earliest in the building block
        Fixed,          ///< the next of `order`; wait if it cannot run yet
    };
    Choice choice = Choice::BackwardFirst;
    const BuildingBlock* block = nullptr;           ///< the block that Block follows
    int look_ahead = 0;                             ///< for Block: units that a pass may run out of
                                                    ///< order
    const std::vector<StepOrder>* order = nullptr;  ///< for Fixed: every F and I, and no W
    /// Parts per rank, where they are below the problem's.
    std::optional<std::vector<int>> live_limits = {};

    /// A weight pass runs where nothing else can, if this share of it fits before the next known
    /// input arrives; 0 means always.
    int weight_fits_percent = 100;
    /// If set, a weight pass that does not fit runs only where waiting would make the rank idle
    /// longer than this, or longer than the idlest rank so far: waiting there costs nothing, and
    /// running late may delay the others.
    std::optional<Duration> idle_allowance = {};
};

/// Plays the pipeline in time and lets every free rank take a pass by the policy. Never takes the
/// last activation that a rank may hold for a chunk that is not its last, unless the last can
/// drain, so it cannot deadlock; only a Fixed order can. About 30 ns a pass.
class ListScheduler {
public:
    explicit ListScheduler(const OrderProblem& problem);
    ~ListScheduler();

    /// Returns nothing if the order deadlocks, or as soon as it is certain to be no shorter than
    /// `to_beat`.
    std::optional<PlanLength> play(const ListPolicy& policy, const PlanLength& to_beat = {});
    /// The order that was played last.
    const std::vector<StepOrder>& order() const;

private:
    struct State;
    std::unique_ptr<State> state_;  ///< its memory is used again
};

}  // namespace debubble
