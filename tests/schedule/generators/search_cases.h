#pragma once

#include <algorithm>
#include <random>

#include "schedule/generators/generator_options.h"
#include "schedule/replay/replay.h"

/// What the tests of the searching generators share.
namespace debubble {

/// F, I, W of a rank's share of a microbatch, cut into equal stages, in seconds.
inline PipelineCosts share_costs(int stages_per_rank, double link, double f = 1, double i = 1,
                                 double w = 1) {
    const double v = stages_per_rank;
    return {{{from_seconds(f / v), from_seconds(i / v), from_seconds(w / v)}},
            from_seconds(link),
            std::nullopt};
}

/// Every kind of awkward: uneven stages, free links or long ones, W nothing or most of it.
inline PipelineCosts random_costs(std::mt19937& random, int stages) {
    const auto draw = [&](int least, int most) {
        return Duration{std::uniform_int_distribution<int>(least, most)(random)};
    };
    const bool uneven = draw(0, 1) == Duration{1};
    const int longest_weight = std::array{0, 100, 1000}[draw(0, 2).count()];
    PipelineCosts costs{{}, draw(0, 1) * draw(0, 300).count(), std::nullopt};
    for (int stage = 0; stage < (uneven ? stages : 1); ++stage)
        costs.stages.push_back({draw(0, 100), draw(0, 100), draw(0, longest_weight)});
    return costs;
}

/// In microbatches of a rank's layers.
inline double peak(const Replay& replay, int stages_per_rank) {
    return *std::ranges::max_element(replay.peak_live_until_weight) / stages_per_rank;
}

/// No order of these stages ends sooner: each rank's work follows its first input.
inline Duration lower_bound(const Schedule& schedule, const PipelineCosts& costs) {
    Duration bound{};
    Duration start{};
    for (int rank = 0; rank < schedule.shape.ranks; ++rank) {
        Duration work{};
        for (const Stage stage : schedule.placement.stages_of(Rank{rank}))
            work += costs.of(stage).forward + costs.of(stage).backward();
        bound = std::max(bound, start + work * schedule.shape.micro_batches);
        start += costs.of(Stage{rank}).forward + costs.link;
    }
    return bound;
}

}  // namespace debubble
