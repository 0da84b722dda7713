#pragma once

#include <random>
#include <set>
#include <vector>

#include "schedule/dependencies.h"
#include "schedule/schedule.h"

/// Orders of computes that nobody designed.
namespace debubble {

/// Every rank's computes in some order in which they can be played: each time, of all computes
/// whose inputs are there, one is taken by chance. Ranks take microbatches in different order.
inline Schedule random_order(std::mt19937& random, const PipelineShape& shape, Placement placement,
                             bool splits_backward) {
    Schedule schedule{"random", shape, std::move(placement),
                      std::vector<ActionList>(static_cast<std::size_t>(shape.ranks))};
    struct Next {
        int rank;
        Compute compute;
    };
    std::vector<Next> left;
    for (int rank = 0; rank < shape.ranks; ++rank)
        for (const Stage stage : schedule.placement.stages_of(Rank{rank}))
            for (int mb = 0; mb < shape.micro_batches; ++mb)
                for (const Pass pass :
                     splits_backward
                         ? std::vector{Pass::Forward, Pass::BackwardInput, Pass::BackwardWeight}
                         : std::vector{Pass::Forward, Pass::Backward})
                    left.push_back({rank, {pass, stage, {mb, {}}}});
    std::set<Message> made;
    const auto is_ready = [&](const Next& next) {
        const Inputs inputs = inputs_of(next.compute, schedule.stage_count(), shape.slices);
        return std::all_of(inputs.begin(), inputs.end(),
                           [&](const Message& input) { return made.contains(input); });
    };
    while (!left.empty()) {
        const auto ready_end = std::partition(left.begin(), left.end(), is_ready);
        const auto chosen =
            left.begin() + static_cast<std::ptrdiff_t>(random() % (ready_end - left.begin()));
        schedule.ranks[static_cast<std::size_t>(chosen->rank)].push_back(chosen->compute);
        if (const auto result = result_of(chosen->compute)) made.insert(*result);
        left.erase(chosen);
    }
    return schedule;
}

/// Of two to five ranks.
inline Schedule random_order(std::mt19937& random) {
    const auto up_to = [&](int most) { return 1 + static_cast<int>(random() % most); };
    const PipelineShape shape{1 + up_to(4), up_to(3), up_to(9), 1};
    const bool is_v = shape.stages_per_rank == 2 && random() % 2 == 0;
    Placement placement =
        is_v ? v_placement(shape.ranks) : loop_placement(shape.ranks, shape.stages_per_rank);
    return random_order(random, shape, std::move(placement), random() % 2 == 0);
}

}  // namespace debubble
