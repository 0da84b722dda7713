#include "schedule/generators/search/list_scheduling.h"

#include <algorithm>
#include <array>
#include <limits>

#include "schedule/generators/search/earliest_rank.h"

namespace debubble {
namespace {

using Choice = ListPolicy::Choice;
constexpr Duration kNever = Duration::max();
constexpr std::array kPasses{Pass::Forward, Pass::Backward, Pass::BackwardInput,
                             Pass::BackwardWeight};

struct ScheduledRank {
    Duration free{};
    Duration work_left{};
    Duration first = kNever;
    Duration idle{};
    std::array<int, 2> forwards{};  ///< forwards done, by chunk
    std::array<int, 2> backwards{};
    std::array<int, 2> freed{};
    int live = 0;
    bool last_was_backward = false;
    std::size_t ordered = 0;            ///< number of passes of the Fixed order that are done
    std::vector<std::uint8_t> weights;  ///< chunks whose W has become possible, in that order
    std::size_t weights_done = 0;
};

}  // namespace

struct ListScheduler::State {
    explicit State(const OrderProblem& problem)
        : problem_(problem),
          micro_batches_(problem.shape.micro_batches),
          backward_(problem.splits_backward ? Pass::BackwardInput : Pass::Backward),
          ranks_(problem.shape.ranks),
          wake_(problem.shape.ranks),
          lengths_(ranks_.size()),
          order_(ranks_.size()) {
        for (StepOrder& order : order_) order.reserve(problem.passes() / ranks_.size());
        for (int rank = 0; rank < problem.shape.ranks; ++rank)
            for (int chunk = 0; chunk < problem.chunks(); ++chunk)
                for (const Pass pass : kPasses) {
                    const Step step{pass, static_cast<std::uint8_t>(chunk)};
                    length_of(rank, step) = problem.length_of(rank, step);
                }
    }

    std::optional<PlanLength> play(const ListPolicy& policy, const PlanLength& to_beat) {
        policy_ = &policy;
        to_beat_ = to_beat;
        reset();
        for (std::int64_t left = problem_.passes(); left > 0;) {
            const int rank = wake_.earliest();
            const Duration now = wake_.time_of(rank);
            if (now == kNever) return std::nullopt;
            next_input_ = kNever;
            std::optional<Step> step = ready_step(rank, now);
            if (!step) step = weight_step(rank, now);
            if (!step) {
                wake_.set(rank, next_input_);
                continue;
            }
            take(rank, *step, now);
            if (!may_win(ranks_[rank])) return std::nullopt;
            --left;
        }
        const PlanLength length = total_length();
        return shorter(problem_, length, to_beat) ? std::optional(length) : std::nullopt;
    }

    const std::vector<StepOrder>& order() const { return order_; }

private:
    void reset() {
        const auto cells = static_cast<std::size_t>(problem_.shape.stages()) * micro_batches_;
        forward_input_.assign(cells, kNever);
        backward_input_.assign(cells, kNever);
        std::fill_n(forward_input_.begin(), micro_batches_, Duration{});
        wake_ = EarliestRank(problem_.shape.ranks);
        idlest_ = policy_->idle_allowance.value_or(Duration{});
        for (std::size_t rank = 0; rank < ranks_.size(); ++rank) {
            std::vector<std::uint8_t> weights = std::move(ranks_[rank].weights);
            weights.clear();
            ranks_[rank] = {};
            ranks_[rank].weights = std::move(weights);
            ranks_[rank].work_left = problem_.work_of(static_cast<int>(rank));
            order_[rank].clear();
        }
    }

    std::optional<Step> ready_step(int rank, Duration now) {
        const ScheduledRank& state = ranks_[rank];
        if (policy_->choice == Choice::Fixed) {
            const StepOrder& order = (*policy_->order)[rank];
            if (state.ordered == order.size()) return std::nullopt;
            const Step step = order[state.ordered];
            return can_run(rank, step, now) ? std::optional(step) : std::nullopt;
        }
        std::optional<Step> best;
        int best_rating = std::numeric_limits<int>::max();
        for (int chunk = problem_.chunks(); chunk-- > 0;) {
            for (const Pass pass : {backward_, Pass::Forward}) {
                const Step step{pass, static_cast<std::uint8_t>(chunk)};
                if (!can_run(rank, step, now)) continue;
                const int rating = rating_of(rank, step);
                if (rating < best_rating) {
                    best_rating = rating;
                    best = step;
                }
            }
        }
        if (policy_->choice == Choice::Block && best &&
            best_rating > earliest_in_block(rank) + policy_->look_ahead)
            return std::nullopt;
        return best;
    }

    bool can_run(int rank, const Step& step, Duration now) {
        const ScheduledRank& state = ranks_[rank];
        const bool forward = step.pass == Pass::Forward;
        const int mb = forward ? state.forwards[step.chunk] : state.backwards[step.chunk];
        if (mb == micro_batches_) return false;
        if (forward && !has_room(rank, step.chunk)) return false;
        const Duration input = inputs(forward)[cell(problem_.stage_of(rank, step.chunk), mb)];
        if (input <= now) return true;
        next_input_ = std::min(next_input_, input);
        return false;
    }

    bool has_room(int rank, int chunk) const {
        const ScheduledRank& state = ranks_[rank];
        const int limit = policy_->live_limits
                              ? std::min(problem_.live_limit(rank), (*policy_->live_limits)[rank])
                              : problem_.live_limit(rank);
        if (state.live > limit - problem_.parts) return false;
        if (policy_->choice == Choice::Fixed || chunk + 1 == problem_.chunks()) return true;
        return state.live <= limit - 2 * problem_.parts || state.forwards[1] > state.freed[1];
    }

    int rating_of(int rank, const Step& step) const {
        const ScheduledRank& state = ranks_[rank];
        const bool backward = step.pass != Pass::Forward;
        const int earlier_chunk = step.chunk + 1 == problem_.chunks() ? 0 : 1;
        switch (policy_->choice) {
            case Choice::BackwardFirst: return (backward ? 0 : 2) + earlier_chunk;
            case Choice::Alternate:
                return (backward != state.last_was_backward ? 0 : 2) + earlier_chunk;
            case Choice::Block: return unit_of(rank, backward, step.chunk);
            case Choice::Fixed: return 0;
        }
        return 0;
    }

    /// The unit of the rank's next pass of this kind in the repeated block.
    int unit_of(int rank, bool backward, int chunk) const {
        const ScheduledRank& state = ranks_[rank];
        const int mb = backward ? state.backwards[chunk] : state.forwards[chunk];
        return policy_->block->start[rank][(backward ? 2 : 0) + chunk] +
               BuildingBlock::kPeriod * mb;
    }

    int earliest_in_block(int rank) const {
        const ScheduledRank& state = ranks_[rank];
        int unit = std::numeric_limits<int>::max() - policy_->look_ahead;
        for (int chunk = 0; chunk < 2; ++chunk) {
            if (state.forwards[chunk] < micro_batches_)
                unit = std::min(unit, unit_of(rank, false, chunk));
            if (state.backwards[chunk] < micro_batches_)
                unit = std::min(unit, unit_of(rank, true, chunk));
        }
        return unit;
    }

    std::optional<Step> weight_step(int rank, Duration now) {
        const ScheduledRank& state = ranks_[rank];
        if (state.weights_done == state.weights.size()) return std::nullopt;
        const Step step{Pass::BackwardWeight, state.weights[state.weights_done]};
        if (next_input_ == kNever) return step;
        const Duration gap = next_input_ - now;
        const Duration weight = length_of(rank, step);
        bool runs = weight * policy_->weight_fits_percent / 100 <= gap;
        if (policy_->idle_allowance && weight > gap) runs = state.idle + gap > idlest_;
        return runs ? std::optional(step) : std::nullopt;
    }

    /// The rank cannot end before it has done the rest without a pause; the
    /// first pass of all starts at 0.
    bool may_win(const ScheduledRank& state) const {
        const Duration end = state.free + state.work_left;
        return shorter(problem_, {end, end - state.first}, to_beat_);
    }

    void take(int rank, const Step& step, Duration now) {
        ScheduledRank& state = ranks_[rank];
        if (state.first == kNever) {
            state.first = now;
        } else {
            state.idle += now - state.free;
            idlest_ = std::max(idlest_, state.idle);
        }
        const Duration length = length_of(rank, step);
        state.free = now + length;
        state.work_left -= length;
        wake_.set(rank, state.free);
        order_[rank].push_back(step);

        if (step.pass == Pass::BackwardWeight) {
            ++state.weights_done;
        } else {
            ++state.ordered;
            state.last_was_backward = step.pass != Pass::Forward;
            hand_on(rank, step);
        }
        state.live += problem_.change_of(rank, step.pass);
        if (step.pass == Pass::BackwardInput) state.weights.push_back(step.chunk);
        if (step.pass == Pass::Backward || step.pass == Pass::BackwardWeight)
            ++state.freed[step.chunk];
    }

    /// Gives the result to the stage that needs it; the last forward is the
    /// input of the first backward.
    void hand_on(int rank, const Step& step) {
        ScheduledRank& state = ranks_[rank];
        const bool forward = step.pass == Pass::Forward;
        const int mb = forward ? state.forwards[step.chunk]++ : state.backwards[step.chunk]++;
        const int stage = problem_.stage_of(rank, step.chunk);
        if (forward && stage + 1 == problem_.shape.stages()) {
            backward_input_[cell(stage, mb)] = state.free;
            return;
        }
        const int to = forward ? stage + 1 : stage - 1;
        if (to < 0) return;
        const int receiver = problem_.rank_of(to);
        const bool local = receiver == rank;
        const Duration arrival = local ? state.free : state.free + problem_.costs.link;
        inputs(forward)[cell(to, mb)] = arrival;
        if (local) return;
        const Duration can_start = std::max(arrival, ranks_[receiver].free);
        if (can_start < wake_.time_of(receiver)) wake_.set(receiver, can_start);
    }

    PlanLength total_length() const {
        Duration begin = kNever;
        Duration end{};
        Duration span{};
        for (const ScheduledRank& state : ranks_) {
            begin = std::min(begin, state.first);
            end = std::max(end, state.free);
            span = std::max(span, state.free - state.first);
        }
        return {end - begin, span};
    }

    Duration& length_of(int rank, const Step& step) {
        return lengths_[rank][step.pass][step.chunk];
    }
    std::size_t cell(int stage, int mb) const {
        return static_cast<std::size_t>(stage) * micro_batches_ + mb;
    }
    std::vector<Duration>& inputs(bool forward) {
        return forward ? forward_input_ : backward_input_;
    }

    const OrderProblem& problem_;
    const ListPolicy* policy_ = nullptr;
    PlanLength to_beat_;
    int micro_batches_;
    Pass backward_;
    std::vector<ScheduledRank> ranks_;
    EarliestRank wake_;  ///< when each rank should look for work again
    Duration idlest_{};
    Duration next_input_ = kNever;         ///< next input of the rank that looks for work, among
                                           ///< passes that have room
    std::vector<Duration> forward_input_;  ///< arrival time by stage and microbatch
    std::vector<Duration> backward_input_;
    /// Durations by rank, pass and chunk.
    std::vector<ArrayBy<Pass, std::array<Duration, 2>, kPasses.size()>> lengths_;
    std::vector<StepOrder> order_;
};

ListScheduler::ListScheduler(const OrderProblem& problem)
    : state_(std::make_unique<State>(problem)) {}
ListScheduler::~ListScheduler() = default;

std::optional<PlanLength> ListScheduler::play(const ListPolicy& policy, const PlanLength& to_beat) {
    return state_->play(policy, to_beat);
}

const std::vector<StepOrder>& ListScheduler::order() const {
    return state_->order();
}

}  // namespace debubble
