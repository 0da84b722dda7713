#pragma once

#include <string>
#include <utility>

#include "schedule/schedule.h"

namespace debubble {

/// Writes one rank's list for a generator: compute actions only. Sends and receives are derived
/// from them by the lowering passes.
class RankWriter {
public:
    explicit RankWriter(ActionList& actions) : actions_(&actions) {}

    RankWriter& forward(int stage, int mb) { return add(Pass::Forward, stage, {mb, {}}); }
    RankWriter& backward(int stage, int mb) { return add(Pass::Backward, stage, {mb, {}}); }
    RankWriter& backward_input(int stage, int mb) {
        return add(Pass::BackwardInput, stage, {mb, {}});
    }
    RankWriter& backward_weight(int stage, int mb) {
        return add(Pass::BackwardWeight, stage, {mb, {}});
    }
    RankWriter& add(Pass pass, int stage, MicroBatch mb) {
        actions_->push_back(Compute{pass, Stage{stage}, mb});
        return *this;
    }
    RankWriter& overlap(const Compute& first, const Compute& second) {
        actions_->push_back(Overlap{first, second});
        return *this;
    }

private:
    ActionList* actions_;
};

inline Schedule empty_schedule(std::string name, const PipelineShape& shape, Placement placement) {
    return {std::move(name), shape, std::move(placement), std::vector<ActionList>(shape.ranks)};
}
inline Schedule empty_schedule(std::string name, const PipelineShape& shape) {
    return empty_schedule(std::move(name), shape,
                          loop_placement(shape.ranks, shape.stages_per_rank));
}

}  // namespace debubble
