#include "schedule/replay/replay.h"

#include <algorithm>
#include <numeric>

#include <fmt/format.h>

#include "base/diagnostic.h"
#include "schedule/dependencies.h"

namespace debubble {
namespace {

constexpr Instant kNotYet = Instant::max();

/// The time and the rank at which a result was made.
struct Produced {
    Instant at = kNotYet;
    int rank = 0;
};

class Replayer {
public:
    Replayer(const Schedule& schedule, const PipelineCosts& costs)
        : schedule_(schedule),
          costs_(costs),
          index_(schedule),
          produced_(index_.size()),
          next_(schedule.ranks.size(), 0),
          free_(schedule.ranks.size()) {}

    std::vector<std::vector<Replay::Times>> run() {
        times_.resize(schedule_.ranks.size());
        for (std::size_t r = 0; r < times_.size(); ++r) times_[r].resize(schedule_.ranks[r].size());
        // Each round advances every rank as far as possible; ranks depend on their neighbours only,
        // so there are few rounds.
        for (bool progress = true; progress;) {
            progress = false;
            for (std::size_t r = 0; r < next_.size(); ++r)
                while (next_[r] < schedule_.ranks[r].size() && step(static_cast<int>(r)))
                    progress = true;
        }
        for (std::size_t r = 0; r < next_.size(); ++r)
            if (next_[r] < schedule_.ranks[r].size()) throw InputError(deadlock());
        return std::move(times_);
    }

private:
    /// Runs the rank's next action; false if one of its inputs is missing.
    bool step(int rank) {
        const Action& action = schedule_.ranks[rank][next_[rank]];
        Instant begin = free_[rank];
        for_each_compute(action,
                         [&](const Compute& c) { begin = std::max(begin, ready(c, rank)); });
        if (begin == kNotYet) return false;

        const Instant end = begin + length_of(action);
        for_each_compute(action, [&](const Compute& c) {
            if (const auto result = result_of(c)) produced_[index_.of(*result)] = {end, rank};
        });
        times_[rank][next_[rank]] = {begin, end};
        free_[rank] = end;
        ++next_[rank];
        return true;
    }

    /// The time when the last input of `c` has arrived on `rank`.
    Instant ready(const Compute& c, int rank) const {
        Instant at{};
        for (const Message& input : inputs_of(c, index_.stage_count(), index_.slices())) {
            const Produced& p = produced_[index_.of(input)];
            if (p.at == kNotYet) return kNotYet;
            at = std::max(at, p.rank == rank ? p.at : p.at + costs_.link);
        }
        return at;
    }

    Duration length_of(const Action& action) const {
        if (const auto* overlap = std::get_if<Overlap>(&action); overlap && costs_.overlap)
            return share(*costs_.overlap, overlap->first.micro_batch);
        Duration sum{};
        for_each_compute(action, [&](const Compute& c) {
            sum += share(costs_.of(c.stage).of(c.pass), c.micro_batch);
        });
        return sum;
    }

    /// A slice's share in whole nanoseconds, so that the shares sum to the whole.
    Duration share(Duration whole, const MicroBatch& mb) const {
        const int slices = index_.slices();
        const bool takes_remainder = mb.slice.value_or(0) < whole.count() % slices;
        return whole / slices + Duration{takes_remainder ? 1 : 0};
    }

    std::string deadlock() const {
        const Owners owners(schedule_);
        std::vector<std::optional<Wait>> waits(next_.size());
        for (std::size_t r = 0; r < next_.size(); ++r)
            if (next_[r] < schedule_.ranks[r].size())
                waits[r] = wait_of(static_cast<int>(r), owners);
        return "the order never finishes: " + waiting_cycle(waits).sentence;
    }

    Wait wait_of(int rank, const Owners& owners) const {
        const Action& action = schedule_.ranks[rank][next_[rank]];
        std::optional<Message> missing;
        for_each_compute(action, [&](const Compute& c) {
            for (const Message& input : inputs_of(c, index_.stage_count(), index_.slices()))
                if (!missing && produced_[index_.of(input)].at == kNotYet) missing = input;
        });
        const bool forward = missing->kind == Message::Kind::Activation;
        const std::string name =
            fmt::format("the {} of stage {}, microbatch {}", forward ? "forward" : "backward",
                        missing->producer.index, to_text(missing->micro_batch));
        const auto on = owners.producer_of(*missing);
        if (!on) return {to_text(action), name + ", which no rank computes", on};
        if (on->index == rank) return {to_text(action), name + ", which it lists later", on};
        return {to_text(action), fmt::format("{} on rank {}", name, on->index), on};
    }

    const Schedule& schedule_;
    const PipelineCosts& costs_;
    ResultIndex index_;
    std::vector<Produced> produced_;
    std::vector<std::size_t> next_;  ///< first action that has not run, by rank
    std::vector<Instant> free_;      ///< end of the last action, by rank
    std::vector<std::vector<Replay::Times>> times_;
};

void add_bubbles(Replay& replay) {
    Instant first = Instant::max();
    Instant last = Instant::min();
    Duration all_work{};
    for (const auto& times : replay.ranks) {
        if (times.empty()) continue;
        const Duration work =
            std::transform_reduce(times.begin(), times.end(), Duration{}, std::plus{},
                                  [](const Replay::Times& t) { return t.end - t.begin; });
        const Duration span = times.back().end - times.front().begin;
        if (span > Duration{})
            replay.span_bubble = std::max(replay.span_bubble, 1 - seconds(work) / seconds(span));
        first = std::min(first, times.front().begin);
        last = std::max(last, times.back().end);
        all_work += work;
    }
    if (last <= first) return;
    replay.makespan = last - first;
    const auto ranks = static_cast<double>(replay.ranks.size());
    replay.bubble = 1 - seconds(all_work) / (ranks * seconds(replay.makespan));
}

/// The greatest number of activations of a rank that are alive at once. An Overlap frees its memory
/// at its end, after it has made its results.
double peak_live(const ActionList& actions, bool until_weight, int slices) {
    int live = 0;
    int peak = 0;
    for (const Action& action : actions) {
        int freed = 0;
        for_each_compute(action, [&](const Compute& c) {
            const Pass last = until_weight ? Pass::BackwardWeight : Pass::BackwardInput;
            if (c.pass == Pass::Forward) ++live;
            if (c.pass == Pass::Backward || c.pass == last) ++freed;
        });
        peak = std::max(peak, live);
        live -= freed;
    }
    return static_cast<double>(peak) / slices;
}

}  // namespace

Replay replay(const Schedule& schedule, const PipelineCosts& costs) {
    Replay replay;
    replay.ranks = Replayer(schedule, costs).run();
    add_bubbles(replay);
    for (const ActionList& actions : schedule.ranks) {
        const int slices = schedule.shape.slices;
        replay.peak_live_until_weight.push_back(peak_live(actions, true, slices));
        replay.peak_live_until_input.push_back(peak_live(actions, false, slices));
    }
    return replay;
}

}  // namespace debubble
