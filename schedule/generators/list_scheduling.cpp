#include "schedule/generators/list_scheduling.h"

#include <algorithm>
#include <array>
#include <limits>

#include "schedule/generators/earliest_rank.h"

namespace debubble {
namespace {

using Choice = ListPolicy::Choice;
constexpr Duration kNever = Duration::max();

struct RankState {
    Duration free{};
    Duration first = kNever;
    Duration idle{};
    std::array<int, 2> forwards{};  ///< done, by chunk
    std::array<int, 2> backwards{};
    std::array<int, 2> freed{};
    int live = 0;
    bool last_was_backward = false;
    std::size_t ordered = 0;            ///< passes of the Fixed order that are done
    std::vector<std::uint8_t> weights;  ///< chunks whose W has become possible, in turn
    std::size_t weights_done = 0;
};

class ListScheduler {
public:
    ListScheduler(const OrderProblem& problem, const ListPolicy& policy)
        : problem_(problem),
          policy_(policy),
          micro_batches_(problem.shape.micro_batches),
          backward_(problem.splits_backward ? Pass::BackwardInput : Pass::Backward),
          ranks_(problem.shape.ranks),
          wake_(problem.shape.ranks),
          idlest_(policy.idle_allowance.value_or(Duration{})) {
        const auto passes = static_cast<std::size_t>(problem.shape.stages()) * micro_batches_;
        forward_input_.assign(passes, kNever);
        backward_input_.assign(passes, kNever);
        std::fill_n(forward_input_.begin(), micro_batches_, Duration{});
        plan_.ranks.resize(ranks_.size());
        if (policy.choice == Choice::Fixed)
            order_has_weights_ = static_cast<std::int64_t>(policy.order->front().size()) ==
                                 problem.passes() / problem.shape.ranks;
        for (StepOrder& order : plan_.ranks) order.reserve(problem.passes() / ranks_.size());
    }

    std::optional<Plan> run() {
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
            --left;
        }
        finish();
        return std::move(plan_);
    }

private:
    std::optional<Step> ready_step(int rank, Duration now) {
        const RankState& state = ranks_[rank];
        if (policy_.choice == Choice::Fixed) {
            const StepOrder& order = (*policy_.order)[rank];
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
        if (policy_.choice == Choice::Block && best &&
            best_rating > earliest_in_block(rank) + policy_.look_ahead)
            return std::nullopt;
        return best;
    }

    bool can_run(int rank, const Step& step, Duration now) {
        const RankState& state = ranks_[rank];
        if (step.pass == Pass::BackwardWeight)
            return state.freed[step.chunk] < state.backwards[step.chunk];
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
        const RankState& state = ranks_[rank];
        const int limit = policy_.live_limits.empty()
                              ? problem_.live_limit
                              : std::min(problem_.live_limit, policy_.live_limits[rank]);
        if (state.live >= limit) return false;
        if (policy_.choice == Choice::Fixed || chunk + 1 == problem_.chunks()) return true;
        return state.live + 1 < limit || state.forwards[1] > state.freed[1];
    }

    int rating_of(int rank, const Step& step) const {
        const RankState& state = ranks_[rank];
        const bool backward = step.pass != Pass::Forward;
        const int earlier_chunk = step.chunk + 1 == problem_.chunks() ? 0 : 1;
        switch (policy_.choice) {
            case Choice::BackwardFirst: return (backward ? 0 : 2) + earlier_chunk;
            case Choice::Alternate:
                return (backward != state.last_was_backward ? 0 : 2) + earlier_chunk;
            case Choice::Block: return unit_of(rank, backward, step.chunk);
            case Choice::Fixed: return 0;
        }
        return 0;
    }

    /// When the rank's next pass of this kind stands in the repeated block.
    int unit_of(int rank, bool backward, int chunk) const {
        const RankState& state = ranks_[rank];
        const int mb = backward ? state.backwards[chunk] : state.forwards[chunk];
        return policy_.block->start[rank][(backward ? 2 : 0) + chunk] + BuildingBlock::kPeriod * mb;
    }

    int earliest_in_block(int rank) const {
        const RankState& state = ranks_[rank];
        int unit = std::numeric_limits<int>::max() - policy_.look_ahead;
        for (int chunk = 0; chunk < 2; ++chunk) {
            if (state.forwards[chunk] < micro_batches_)
                unit = std::min(unit, unit_of(rank, false, chunk));
            if (state.backwards[chunk] < micro_batches_)
                unit = std::min(unit, unit_of(rank, true, chunk));
        }
        return unit;
    }

    std::optional<Step> weight_step(int rank, Duration now) const {
        const RankState& state = ranks_[rank];
        if (order_has_weights_ || state.weights_done == state.weights.size()) return std::nullopt;
        const Step step{Pass::BackwardWeight, state.weights[state.weights_done]};
        if (next_input_ == kNever) return step;
        const Duration gap = next_input_ - now;
        const Duration weight = length_of(rank, step);
        bool runs = weight * policy_.weight_fits_percent / 100 <= gap;
        if (policy_.idle_allowance && weight > gap) runs = state.idle + gap > idlest_;
        return runs ? std::optional(step) : std::nullopt;
    }

    Duration length_of(int rank, const Step& step) const {
        return problem_.costs.of(Stage{problem_.stage_of(rank, step.chunk)}).of(step.pass);
    }

    void take(int rank, const Step& step, Duration now) {
        RankState& state = ranks_[rank];
        if (state.first == kNever) {
            state.first = now;
        } else {
            state.idle += now - state.free;
            idlest_ = std::max(idlest_, state.idle);
        }
        state.free = now + length_of(rank, step);
        wake_.set(rank, state.free);
        plan_.ranks[rank].push_back(step);

        if (step.pass == Pass::BackwardWeight) {
            ++state.weights_done;
            if (order_has_weights_) ++state.ordered;
        } else {
            ++state.ordered;
            state.last_was_backward = step.pass != Pass::Forward;
            hand_on(rank, step);
        }
        if (step.pass == Pass::Forward) ++state.live;
        if (step.pass == Pass::BackwardInput) state.weights.push_back(step.chunk);
        if (step.pass == Pass::Backward || step.pass == Pass::BackwardWeight) {
            --state.live;
            ++state.freed[step.chunk];
        }
    }

    /// Gives the result to the stage that needs it; the last forward is the
    /// input of the first backward.
    void hand_on(int rank, const Step& step) {
        RankState& state = ranks_[rank];
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
        if (!local)
            wake_.set(receiver,
                      std::min(wake_.time_of(receiver), std::max(arrival, ranks_[receiver].free)));
    }

    void finish() {
        Duration begin = kNever;
        Duration end{};
        Duration span{};
        for (const RankState& state : ranks_) {
            begin = std::min(begin, state.first);
            end = std::max(end, state.free);
            span = std::max(span, state.free - state.first);
        }
        plan_.makespan = end - begin;
        plan_.span = span;
    }

    std::size_t cell(int stage, int mb) const {
        return static_cast<std::size_t>(stage) * micro_batches_ + mb;
    }
    std::vector<Duration>& inputs(bool forward) {
        return forward ? forward_input_ : backward_input_;
    }

    const OrderProblem& problem_;
    const ListPolicy& policy_;
    int micro_batches_;
    Pass backward_;
    std::vector<RankState> ranks_;
    EarliestRank wake_;  ///< when each rank should look for work again
    Duration idlest_;
    bool order_has_weights_ = false;
    Duration next_input_ = kNever;         ///< of the rank that looks, among what has room
    std::vector<Duration> forward_input_;  ///< arrival by stage and microbatch
    std::vector<Duration> backward_input_;
    Plan plan_;
};

}  // namespace

std::optional<Plan> list_schedule(const OrderProblem& problem, const ListPolicy& policy) {
    return ListScheduler(problem, policy).run();
}

}  // namespace debubble
