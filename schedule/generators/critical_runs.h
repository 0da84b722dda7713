#pragma once

#include <vector>

#include "schedule/generators/order_player.h"

namespace debubble {

/// Why an order takes as long as it does: a longest path to the end of one rank,
/// cut into runs of passes that follow each other without a pause on one rank.
/// Between two runs stands a message.
///
/// An order that differs by a move of one pass within a rank keeps the path, and
/// is therefore no shorter, unless the move turns round two passes that follow
/// each other in a run; and even then if the whole move happens inside the run,
/// which then is another chain of the same passes. (The block theorem of the job
/// shop: Grabowski, Nowicki and Zdrzalka, 1986.)
class CriticalRuns {
public:
    /// `player` has just played `order` to its end.
    CriticalRuns(const OrderProblem& problem, const std::vector<StepOrder>& order,
                 const OrderPlayer& player, int last_rank);

    /// Whether the path may get shorter if the pass at `from` moves behind that
    /// at `to`, or that at `to` before `from`; from < to. As microbatches count
    /// among their like, it is in truth every like pass between that moves, up
    /// to the next one.
    bool broken_by_moving_back(int rank, const StepOrder& steps, std::size_t from,
                               std::size_t to) const;
    bool broken_by_moving_ahead(int rank, const StepOrder& steps, std::size_t from,
                                std::size_t to) const;

private:
    struct Run {
        std::size_t first, last;    ///< places in the rank's order
        bool free_start, free_end;  ///< no message before it, or after it
    };
    /// Whether the passes at `link` and one further follow each other in a run
    /// that the places from..to leave.
    bool breaks(int rank, std::size_t link, std::size_t from, std::size_t to) const;

    std::vector<std::vector<Run>> runs_;  ///< by rank
};

}  // namespace debubble
