#include "schedule/generators/search/critical_runs.h"

#include <algorithm>
#include <array>

namespace debubble {
namespace {

struct Position {
    int rank = 0;
    std::size_t index = 0;
};

/// The position of every forward and backward.
class Places {
public:
    Places(const OrderProblem& problem, const std::vector<StepOrder>& order)
        : problem_(problem), micro_batch_(order.size()) {
        const auto cells =
            static_cast<std::size_t>(problem.shape.stages()) * problem.shape.micro_batches;
        forward_.resize(cells);
        backward_.resize(cells);
        for (std::size_t r = 0; r < order.size(); ++r) {
            const int rank = static_cast<int>(r);
            ArrayBy<Pass, std::array<int, 2>, 4> count{};
            for (std::size_t i = 0; i < order[r].size(); ++i) {
                const Step step = order[r][i];
                const int mb = count[step.pass][step.chunk]++;
                micro_batch_[r].push_back(mb);
                if (step.pass == Pass::BackwardWeight) continue;
                auto& places = step.pass == Pass::Forward ? forward_ : backward_;
                places[cell(problem.stage_of(rank, step.chunk), mb)] = {rank, i};
            }
        }
    }

    int micro_batch(const Position& at) const { return micro_batch_[at.rank][at.index]; }

    /// The pass that makes the input of this forward or backward.
    Position maker(const Position& at, const Step& step) const {
        const int stage = problem_.stage_of(at.rank, step.chunk);
        const int mb = micro_batch(at);
        if (step.pass == Pass::Forward) return forward_[cell(stage - 1, mb)];
        if (stage + 1 == problem_.shape.stages()) return forward_[cell(stage, mb)];
        return backward_[cell(stage + 1, mb)];
    }

private:
    std::size_t cell(int stage, int mb) const {
        return static_cast<std::size_t>(stage) * problem_.shape.micro_batches + mb;
    }

    const OrderProblem& problem_;
    std::vector<std::vector<int>> micro_batch_;
    std::vector<Position> forward_;
    std::vector<Position> backward_;
};

}  // namespace

CriticalRuns::CriticalRuns(const OrderProblem& problem, const std::vector<StepOrder>& order,
                           const OrderPlayer& player, int last_rank)
    : runs_(order.size()) {
    const Places places(problem, order);
    Position at{last_rank, order[last_rank].size() - 1};
    for (bool free_end = true;; free_end = false) {
        Run run{at.index, at.index, false, free_end};
        const auto ends = player.ends(at.rank);
        const auto start = [&] {
            return ends[at.index] - problem.length_of(at.rank, order[at.rank][at.index]);
        };
        while (at.index > 0 && ends[at.index - 1] == start()) --at.index;
        run.first = at.index;
        // Here a pass waited for its input, unless it is the very first pass.
        run.free_start = at.index == 0 && at.rank == 0;
        runs_[at.rank].push_back(run);
        if (run.free_start) return;
        at = places.maker(at, order[at.rank][at.index]);
    }
}

bool CriticalRuns::broken_by_moving_back(int rank, const StepOrder& steps, std::size_t from,
                                         std::size_t to) const {
    for (std::size_t i = from; i < to; ++i)
        if (steps[i] == steps[from] && breaks(rank, i, from, to)) return true;
    return false;
}

bool CriticalRuns::broken_by_moving_ahead(int rank, const StepOrder& steps, std::size_t from,
                                          std::size_t to) const {
    for (std::size_t i = from; i < to; ++i)
        if (steps[i + 1] == steps[to] && breaks(rank, i, from, to)) return true;
    return false;
}

bool CriticalRuns::breaks(int rank, std::size_t link, std::size_t from, std::size_t to) const {
    return std::ranges::any_of(runs_[rank], [&](const Run& run) {
        if (link < run.first || link + 1 > run.last) return false;
        const bool inside = (from > run.first || run.free_start) && (to < run.last || run.free_end);
        return !inside;
    });
}

}  // namespace debubble
