#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "schedule/generators/search/order_search.h"

namespace debubble {

/// Plays complete orders of one problem, which leave no pass to a policy. Each pass starts when the
/// one before it on its rank and its input allow, so a longest path takes the place of a queue.
/// About 5 ns a pass.
class OrderPlayer {
public:
    explicit OrderPlayer(const OrderProblem& problem);

    /// Returns nothing if the order deadlocks or holds too much, or as soon as it is certain to be
    /// no shorter than `to_beat`.
    std::optional<PlanLength> play(const std::vector<StepOrder>& order,
                                   const PlanLength& to_beat = {});

    /// The end times of a rank's passes in the order just played to its end.
    std::span<const Duration> ends(int rank) const {
        return {ends_.data() + rank * passes_per_rank_, passes_per_rank_};
    }
    Duration end(int rank) const { return ranks_[rank].free; }
    Duration span(int rank) const { return ranks_[rank].free - ranks_[rank].first; }

private:
    struct RankState {
        std::size_t done = 0;
        Duration free{};
        Duration first{};
        Duration work_left{};
        int live = 0;
        /// The number of passes done, by Pass and chunk.
        ArrayBy<Pass, std::array<int, 2>, 4> count{};
    };

    enum class Outcome : std::uint8_t { Waits, Ended, Lost };
    Outcome advance(int rank, const StepOrder& order, const PlanLength& to_beat);
    void hand_on(int rank, const Step& step, int mb, Duration end);

    std::size_t cell(int stage, int mb) const {
        return static_cast<std::size_t>(stage) * problem_->shape.micro_batches + mb;
    }

    const OrderProblem* problem_;
    std::size_t passes_per_rank_;
    std::vector<RankState> ranks_;
    std::vector<Duration> work_;           ///< by rank
    std::vector<Duration> lengths_;        ///< durations by rank, Pass and chunk
    std::vector<int> changes_;             ///< parts that come alive, by rank and Pass
    std::vector<Duration> forward_input_;  ///< arrival time by stage and microbatch
    std::vector<Duration> backward_input_;
    std::vector<Duration> ends_;  ///< end times by rank and position in its order
};

}  // namespace debubble
