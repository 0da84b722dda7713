#pragma once

#include <vector>

#include "schedule/generators/search/order_player.h"

namespace debubble {

/// The reason for an order's length: a longest path to the end of one rank, cut into runs of passes
/// that follow each other without a pause on one rank. Between two runs there is a message.
///
/// An order that differs by a move of one pass within a rank keeps the path, and is therefore no
/// shorter, unless the move swaps two passes that follow each other in a run; and even then if the
/// whole move happens inside the run, which then is another chain of the same passes. (The block
/// theorem of the job shop: Grabowski, Nowicki and Zdrzalka, 1986.)
class CriticalRuns {
public:
    /// `player` has just played `order` to its end.
    CriticalRuns(const OrderProblem& problem, const std::vector<StepOrder>& order,
                 const OrderPlayer& player, int last_rank);

    /// True if the path may get shorter when the pass at `from` moves after that at `to`, or that
    /// at `to` before `from`; from < to. As the microbatches of equal passes stay in order, every
    /// equal pass in between moves too, up to the next one.
    bool broken_by_moving_back(int rank, const StepOrder& steps, std::size_t from,
                               std::size_t to) const;
    bool broken_by_moving_ahead(int rank, const StepOrder& steps, std::size_t from,
                                std::size_t to) const;

private:
    struct Run {
        std::size_t first, last;    ///< positions in the rank's order
        bool free_start, free_end;  ///< true if no message comes before it, or after it
    };
    /// True if the passes at `link` and the next position follow each other in a run that the
    /// positions from..to leave.
    bool breaks(int rank, std::size_t link, std::size_t from, std::size_t to) const;

    std::vector<std::vector<Run>> runs_;  ///< by rank
};

}  // namespace debubble
