#include "schedule/generators/search/plan_search.h"

#include <algorithm>
#include <array>

#include "schedule/generators/search/critical_runs.h"

namespace debubble {
namespace {

/// The obstacles to a shorter best plan, by either measure, whether it counts first or, among
/// equals, second.
///
/// That a path to a rank's end also bounds the rank's span has a reason: the first pass of a rank
/// is the first forward of its chunk 0 in every order that does not deadlock, so it starts at the
/// same time in all of them.
class Obstacles {
public:
    Obstacles(const OrderProblem& problem, const std::vector<StepOrder>& order) {
        OrderPlayer player(problem);
        player.play(order);
        int latest = 0;
        int longest = 0;
        for (int rank = 1; rank < problem.shape.ranks; ++rank) {
            if (player.end(rank) > player.end(latest)) latest = rank;
            if (player.span(rank) > player.span(longest)) longest = rank;
        }
        paths_.emplace_back(problem, order, player, latest);
        if (longest != latest) paths_.emplace_back(problem, order, player, longest);
    }

    bool may_yield_to_moving_back(int rank, const StepOrder& steps, std::size_t from,
                                  std::size_t to) const {
        return std::ranges::any_of(paths_, [&](const CriticalRuns& path) {
            return path.broken_by_moving_back(rank, steps, from, to);
        });
    }
    bool may_yield_to_moving_ahead(int rank, const StepOrder& steps, std::size_t from,
                                   std::size_t to) const {
        return std::ranges::any_of(paths_, [&](const CriticalRuns& path) {
            return path.broken_by_moving_ahead(rank, steps, from, to);
        });
    }

private:
    std::vector<CriticalRuns> paths_;
};

/// Tries the neighbours of the best order one after the other. The best plan, and with it the
/// neighbours still to come, changes on the way.
class Neighbourhood {
public:
    explicit Neighbourhood(PlanSearch& search)
        : search_(search), order_(search.best().ranks), obstacles_(search.problem(), order_) {}

    /// Returns true if it found something better.
    bool sweep() {
        bool improved = false;
        for (int rank = 0; rank < search_.problem().shape.ranks; ++rank)
            for (std::size_t from = 0; from < order_[rank].size(); ++from)
                for (const std::size_t distance : {1, 2, 3, 5}) {
                    const std::size_t to = from + distance;
                    if (to >= order_[rank].size() || search_.spent()) break;
                    improved |=
                        moves_back(rank, from, to) || (distance > 1 && moves_ahead(rank, from, to));
                }
        return improved;
    }

private:
    /// Moves the earlier pass after the others.
    bool moves_back(int rank, std::size_t from, std::size_t to) {
        if (!obstacles_.may_yield_to_moving_back(rank, order_[rank], from, to)) return skipped();
        const auto first = order_[rank].begin() + static_cast<std::ptrdiff_t>(from);
        const auto last = order_[rank].begin() + static_cast<std::ptrdiff_t>(to);
        std::rotate(first, first + 1, last + 1);
        if (is_better()) return true;
        std::rotate(first, last, last + 1);
        return false;
    }

    /// Moves the later pass before the others.
    bool moves_ahead(int rank, std::size_t from, std::size_t to) {
        if (!obstacles_.may_yield_to_moving_ahead(rank, order_[rank], from, to)) return skipped();
        const auto first = order_[rank].begin() + static_cast<std::ptrdiff_t>(from);
        const auto last = order_[rank].begin() + static_cast<std::ptrdiff_t>(to);
        std::rotate(first, last, last + 1);
        if (is_better()) return true;
        std::rotate(first, first + 1, last + 1);
        return false;
    }

    bool skipped() {
        search_.charge(1);
        return false;
    }

    bool is_better() {
        if (!search_.consider(order_)) return false;
        obstacles_ = Obstacles(search_.problem(), order_);
        return true;
    }

    PlanSearch& search_;
    std::vector<StepOrder> order_;
    Obstacles obstacles_;
};

}  // namespace

void improve_order(PlanSearch& search) {
    if (search.spent()) return;
    Neighbourhood neighbours(search);
    while (!search.spent() && neighbours.sweep()) {
    }
}

}  // namespace debubble
