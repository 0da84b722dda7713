#include "schedule/generators/search/order_player.h"

#include <algorithm>

namespace debubble {
namespace {

constexpr Duration kNotMade = Duration::max();

constexpr std::size_t index_of(int rank, const Step& step) {
    return (static_cast<std::size_t>(rank) * 4 + position_of(step.pass)) * 2 + step.chunk;
}

}  // namespace

OrderPlayer::OrderPlayer(const OrderProblem& problem)
    : problem_(&problem),
      passes_per_rank_(problem.passes() / problem.shape.ranks),
      lengths_(static_cast<std::size_t>(problem.shape.ranks) * 8) {
    for (int rank = 0; rank < problem.shape.ranks; ++rank) {
        work_.push_back(problem.work_of(rank));
        for (const Pass pass :
             {Pass::Forward, Pass::Backward, Pass::BackwardInput, Pass::BackwardWeight}) {
            changes_.push_back(problem.change_of(rank, pass));
            for (int chunk = 0; chunk < problem.chunks(); ++chunk) {
                const Step step{pass, static_cast<std::uint8_t>(chunk)};
                lengths_[index_of(rank, step)] = problem.length_of(rank, step);
            }
        }
    }
    ends_.resize(passes_per_rank_ * work_.size());
}

std::optional<PlanLength> OrderPlayer::play(const std::vector<StepOrder>& order,
                                            const PlanLength& to_beat) {
    const auto cells =
        static_cast<std::size_t>(problem_->shape.stages()) * problem_->shape.micro_batches;
    forward_input_.assign(cells, kNotMade);
    backward_input_.assign(cells, kNotMade);
    std::fill_n(forward_input_.begin(), problem_->shape.micro_batches, Duration{});
    ranks_.assign(work_.size(), {});
    for (std::size_t rank = 0; rank < work_.size(); ++rank) ranks_[rank].work_left = work_[rank];

    std::size_t done = 0;
    for (std::size_t ended = 0; ended < ranks_.size();) {
        const std::size_t before = done;
        ended = done = 0;
        // Goes down and up again, as the passes do.
        for (std::size_t i = 0; i < 2 * ranks_.size(); ++i) {
            const std::size_t rank = i < ranks_.size() ? i : 2 * ranks_.size() - 1 - i;
            const Outcome outcome = advance(static_cast<int>(rank), order[rank], to_beat);
            if (outcome == Outcome::Lost) return std::nullopt;
            if (i < ranks_.size()) continue;
            if (outcome == Outcome::Ended) ++ended;
            done += ranks_[rank].done;
        }
        if (done == before) return std::nullopt;
    }
    PlanLength length{Duration{}, Duration{}};  // the very first pass starts at 0
    for (const RankState& state : ranks_) {
        length.makespan = std::max(length.makespan, state.free);
        length.span = std::max(length.span, state.free - state.first);
    }
    return shorter(*problem_, length, to_beat) ? std::optional(length) : std::nullopt;
}

/// Runs the rank's passes up to one whose input no rank has made yet.
OrderPlayer::Outcome OrderPlayer::advance(int rank, const StepOrder& order,
                                          const PlanLength& to_beat) {
    RankState& state = ranks_[rank];
    for (; state.done < order.size(); ++state.done) {
        const Step step = order[state.done];
        int& number = state.count[step.pass][step.chunk];
        const Duration length = lengths_[index_of(rank, step)];
        if (step.pass == Pass::BackwardWeight) {
            if (number == state.count[Pass::BackwardInput][step.chunk]) return Outcome::Lost;
            state.free += length;
        } else {
            const bool forward = step.pass == Pass::Forward;
            const Duration ready =
                (forward ? forward_input_
                         : backward_input_)[cell(problem_->stage_of(rank, step.chunk), number)];
            if (ready == kNotMade) return Outcome::Waits;
            const Duration start = std::max(state.free, ready);
            if (state.done == 0) state.first = start;
            state.free = start + length;
            hand_on(rank, step, number, state.free);
        }
        state.live += changes_[static_cast<std::size_t>(rank) * 4 + position_of(step.pass)];
        if (state.live > problem_->live_limit(rank)) return Outcome::Lost;
        ++number;
        ends_[rank * passes_per_rank_ + state.done] = state.free;
        state.work_left -= length;
        const Duration end = state.free + state.work_left;
        if (!shorter(*problem_, {end, end - state.first}, to_beat)) return Outcome::Lost;
    }
    return Outcome::Ended;
}

void OrderPlayer::hand_on(int rank, const Step& step, int mb, Duration end) {
    const bool forward = step.pass == Pass::Forward;
    const int stage = problem_->stage_of(rank, step.chunk);
    if (forward && stage + 1 == problem_->shape.stages()) {
        backward_input_[cell(stage, mb)] = end;
        return;
    }
    const int to = forward ? stage + 1 : stage - 1;
    if (to < 0) return;
    const bool local = problem_->rank_of(to) == rank;
    (forward ? forward_input_ : backward_input_)[cell(to, mb)] =
        local ? end : end + problem_->costs.link;
}

}  // namespace debubble
