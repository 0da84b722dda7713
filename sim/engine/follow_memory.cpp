#include "sim/engine/follow_memory.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <utility>

#include "base/overloaded.h"
#include "sim/memory/alike_ranks.h"
#include "sim/memory/local_stages.h"
#include "sim/memory/memory_events.h"

namespace debubble::sim {
namespace {

std::size_t at(MemoryClass memory_class) {
    return static_cast<std::size_t>(memory_class);
}

/// A change of the memory that a rank holds. At one instant frees come before allocations, in the
/// order of the list; for one action, messages' buffers before its compute, and the compute before
/// all others.
struct Change {
    Instant when;
    Bytes delta;
    MemoryClass held_as{};
    bool quiet = false;    ///< a message's buffer: shown with the next change of another kind
    bool at_once = false;  ///< the compute that ends here has begun at the same instant
    std::uint32_t action = 0;
    const PassMemory* inside = nullptr;  ///< a compute that begins here
    const PassMemory* after = nullptr;   ///< a compute that ends here

    /// True for an allocation; a compute leaves no more than it held.
    bool allocates() const {
        return after != nullptr ? at_once : inside != nullptr || delta.count > 0;
    }
    std::uint32_t turn() const { return quiet ? 0 : inside != nullptr || after != nullptr ? 1 : 2; }
};

/// The key by which changes are sorted: a change is four times as long. No two are equal.
struct ChangeKey {
    Instant when;
    std::uint32_t order;  ///< whether it allocates, its action, its turn in it
    std::uint32_t index;  ///< index in the order of collection

    friend bool operator<(const ChangeKey& a, const ChangeKey& b) {
        if (a.when != b.when) return a.when < b.when;
        return a.order != b.order ? a.order < b.order : a.index < b.index;
    }
};

/// Sorts keys that are almost in order, each past the few greater ones before it; keys that turn
/// out to be in another order are sorted from scratch.
void sort_almost_sorted(std::vector<ChangeKey>& keys) {
    constexpr std::size_t kMostMoves = 8;  // of a key on average
    std::size_t moves = 0;
    for (std::size_t i = 1; i < keys.size(); ++i) {
        const ChangeKey key = keys[i];
        std::size_t to = i;
        for (; to > 0 && key < keys[to - 1]; --to) keys[to] = keys[to - 1];
        keys[to] = key;
        moves += i - to;
        if (moves > kMostMoves * keys.size()) return std::sort(keys.begin(), keys.end());
    }
}

std::vector<ChangeKey> in_order_of_time(const std::vector<Change>& changes) {
    std::vector<ChangeKey> keys;
    keys.reserve(changes.size());
    for (const Change& change : changes) {
        const std::uint32_t allocates = change.allocates() ? 1U << 31 : 0;
        keys.push_back({change.when, allocates | change.action << 2 | change.turn(),
                        static_cast<std::uint32_t>(keys.size())});
    }
    sort_almost_sorted(keys);
    return keys;
}

/// The memory of the passes of one rank, each kind computed once.
class PassTable {
public:
    PassTable(const Program& program, const PlacementIndex& index, Rank rank,
              const MemoryModel& memory)
        : memory_(memory),
          rank_(rank),
          local_(index, rank),
          slices_(program.shape.slices),
          known_(kKinds * slices_ * program.placement.stages_of(rank).size()) {}

    const PassMemory& of(const Compute& c) {
        std::optional<PassMemory>& known =
            slot(static_cast<std::size_t>(c.pass), c.stage, c.micro_batch);
        if (!known) known = memory_.compute(c);
        return *known;
    }
    const PassMemory& of(const Recompute& r) {
        std::optional<PassMemory>& known = slot(kAgain, r.stage, r.micro_batch);
        if (!known) known = memory_.recompute(r);
        return *known;
    }
    const PassMemory& of(const Overlap& o) {
        auto key = std::pair(o.first, o.second);
        key.first.micro_batch.index = key.second.micro_batch.index = 0;
        const auto [place, is_new] = overlaps_.try_emplace(key);
        if (is_new) place->second = memory_.overlap(o);
        return place->second;
    }
    const PassMemory& optimizer() {
        optimizer_.peak_above = memory_.optimizer_transient(rank_);
        optimizer_.at_peak[at(MemoryClass::Workspace)] = optimizer_.peak_above;
        optimizer_.op_at_peak = "optimizer";
        return optimizer_;
    }

private:
    static constexpr std::size_t kAgain = 4;  // index after those of the four passes
    static constexpr std::size_t kKinds = 5;
    std::optional<PassMemory>& slot(std::size_t kind, Stage stage, MicroBatch mb) {
        return known_[(local_.index_of(stage) * kKinds + kind) * slices_ + mb.slice.value_or(0)];
    }

    const MemoryModel& memory_;
    Rank rank_;
    LocalStages local_;
    std::size_t slices_;
    std::vector<std::optional<PassMemory>> known_;  // stage of the rank x kind x slice
    std::map<std::pair<Compute, Compute>, PassMemory> overlaps_;  // microbatch cleared
    PassMemory optimizer_;
};

/// Gives the events of one rank their times.
class RankChanges {
public:
    RankChanges(const ActionList& list, std::span<const ActionTasks> tasks,
                std::span<const TaskTimes> times, PassTable& passes)
        : list_(list), tasks_(tasks), times_(times), passes_(passes) {}

    std::vector<Change> collect(const std::vector<MemoryEvent>& events) {
        changes_.reserve(events.size() + list_.size());
        for (const MemoryEvent& event : events) {
            action_ = event.action;
            std::visit(
                Overloaded{
                    [&](const Allocation& a) { change(when(a.at), a, a.bytes); },
                    [&](const Release& r) {
                        const auto& a = std::get<Allocation>(events[r.allocation].what);
                        Instant then = when(r.at);
                        if (r.not_before) then = std::max(then, when(*r.not_before));
                        change(then, a, Bytes{-a.bytes.count});
                    },
                    [&](const PassRuns&) { compute_runs(); },
                    [&](const OptimizerRuns&) { compute_runs(); },
                    [&](const SavedLeaves& s) { saved(ends(), Bytes{-saved_by(s.forward).count}); },
                    [&](const SavedReturns& s) { saved(begins(), saved_by(s.forward)); },
                },
                event.what);
        }
        return std::move(changes_);
    }

private:
    Instant when(Moment moment) const {
        const ActionTasks& tasks = tasks_[moment.action];
        return moment.edge == Moment::Edge::Begin ? times_[tasks.first].begin
                                                  : times_[tasks.last].end;
    }
    Instant begins() const { return when({action_, Moment::Edge::Begin}); }
    Instant ends() const { return when({action_, Moment::Edge::End}); }

    void change(Instant then, const Allocation& of, Bytes delta) {
        const bool quiet = of.held == Held::Received || of.held == Held::Sent;
        changes_.push_back({then, delta, of.held_as, quiet, false, action_});
    }
    void saved(Instant then, Bytes delta) {
        if (delta.count == 0) return;
        changes_.push_back({then, delta, MemoryClass::Activations, false, false, action_});
    }
    Bytes saved_by(const Compute& forward) {
        const PassMemory& memory = passes_.of(forward);
        return memory.held_after - memory.stays;
    }
    /// Runs both passes of an Overlap at the same time.
    void compute_runs() {
        if (last_run_ == action_) return;
        last_run_ = action_;
        const PassMemory& memory = memory_of(list_[action_]);
        changes_.push_back(
            {begins(), {}, MemoryClass::Activations, false, false, action_, &memory});
        changes_.push_back({ends(), memory.held_after, MemoryClass::Activations, false,
                            begins() == ends(), action_, nullptr, &memory});
    }
    const PassMemory& memory_of(const Action& action) {
        if (const auto* c = std::get_if<Compute>(&action)) return passes_.of(*c);
        if (const auto* o = std::get_if<Overlap>(&action)) return passes_.of(*o);
        if (const auto* r = std::get_if<Recompute>(&action)) return passes_.of(*r);
        return passes_.optimizer();
    }

    const ActionList& list_;
    std::span<const ActionTasks> tasks_;
    std::span<const TaskTimes> times_;
    PassTable& passes_;
    std::uint32_t action_ = 0;
    std::optional<std::uint32_t> last_run_;
    std::vector<Change> changes_;
};

/// Plays the changes in order of time.
class Player {
public:
    Player(const ActionList& list, Rank rank, const MemoryByClass& held,
           std::vector<MemorySample>* samples)
        : list_(list),
          rank_(rank),
          held_(held),
          sum_(total(held)),
          samples_(samples),
          peak_{Instant{}, held, "", "static"},
          peak_sum_(sum_) {
        if (samples_ == nullptr) return;
        for (std::size_t c = 0; c < kMemoryClasses; ++c)
            sample(Instant{}, static_cast<MemoryClass>(c), held[c]);
    }

    MemoryPeak play(const std::vector<Change>& changes) {
        for (const ChangeKey& key : in_order_of_time(changes)) apply(changes[key.index]);
        if (peak_change_ == nullptr) return peak_;
        peak_.action = to_text(list_[peak_change_->action]);
        peak_.op = "";
        if (peak_inside_ == nullptr) return peak_;
        peak_.op = peak_inside_->op_at_peak;
        for (std::size_t c = 0; c < kMemoryClasses; ++c) peak_.held[c] += peak_inside_->at_peak[c];
        return peak_;
    }

private:
    void apply(const Change& change) {
        held_[at(change.held_as)] += change.delta;
        sum_ += change.delta;
        if (change.inside != nullptr) inside_ = change.inside;
        if (change.after != nullptr) inside_ = nullptr;
        if (samples_ != nullptr) show(change);
        // The instant at which a message is sent says little about the time when its buffer is
        // requested.
        const PassMemory* running = change.quiet ? nullptr : inside_;
        const Bytes sum = sum_ + (running != nullptr ? running->peak_above : Bytes{});
        if (sum <= peak_sum_) return;
        peak_sum_ = sum;
        peak_.at = change.when;
        peak_.held = held_;
        peak_change_ = &change;
        peak_inside_ = running;
    }
    /// A compute shows the memory at its greatest level, and returns to the level that it leaves.
    void show(const Change& change) {
        if (change.quiet) {
            unseen_ = true;
            return;
        }
        const PassMemory* of = change.inside != nullptr ? change.inside : change.after;
        for (std::size_t c = 0; c < kMemoryClasses; ++c) {
            const bool changes = c == at(change.held_as) ||
                                 (of != nullptr && of->at_peak[c].count != 0) ||
                                 (unseen_ && c == at(MemoryClass::Activations));
            if (!changes) continue;
            const Bytes more = inside_ != nullptr ? inside_->at_peak[c] : Bytes{};
            sample(change.when, static_cast<MemoryClass>(c), held_[c] + more);
        }
        unseen_ = false;
    }
    void sample(Instant when, MemoryClass held_as, Bytes value) {
        const bool same_instant = !samples_->empty() && samples_->back().rank == rank_ &&
                                  samples_->back().at == when &&
                                  samples_->back().held_as == held_as;
        if (same_instant)
            samples_->back().held = value;
        else
            samples_->push_back({when, value, rank_, held_as});
    }

    const ActionList& list_;
    Rank rank_;
    MemoryByClass held_;
    Bytes sum_;                           ///< of `held_`
    std::vector<MemorySample>* samples_;  ///< nullptr: none are wanted
    MemoryPeak peak_;
    Bytes peak_sum_;
    const Change* peak_change_ = nullptr;      ///< nullptr: the rank is fullest at the start
    const PassMemory* peak_inside_ = nullptr;  ///< the compute that runs at the peak
    const PassMemory* inside_ = nullptr;       ///< the compute that is running
    bool unseen_ = false;                      ///< true if buffers of messages have changed
};

/// True if the rank's events are those of the rank before it, whose events name no stage that
/// anything is asked about.
bool follows_its_neighbour(const Program& program, const PlacementIndex& index, Rank rank,
                           const MemoryModel& memory) {
    const auto moves_saved = [](const Action& action) {
        return std::holds_alternative<Offload>(action) || std::holds_alternative<Reload>(action);
    };
    return rank.index > 0 &&
           have_alike_events(program, index, memory, Rank{rank.index - 1}, rank) &&
           std::ranges::none_of(program.ranks[rank.index], moves_saved);
}

}  // namespace

FollowedMemory follow_memory(const Program& program, const TaskGraph& graph,
                             std::span<const TaskTimes> times, const MemoryModel& memory,
                             bool keep_samples) {
    FollowedMemory followed;
    const PlacementIndex index(program.placement);
    std::vector<MemoryEvent> events;
    for (int r = 0; r < program.shape.ranks; ++r) {
        const Rank rank{r};
        const ActionList& list = program.ranks[r];
        PassTable passes(program, index, rank, memory);
        if (!follows_its_neighbour(program, index, rank, memory))
            events = memory_events(program, index, rank, memory, std::move(events));
        const auto changes = RankChanges(list, graph.tasks_of[r], times, passes).collect(events);
        Player player(list, rank, memory.static_memory(rank),
                      keep_samples ? &followed.samples : nullptr);
        followed.peaks.push_back(player.play(changes));
    }
    return followed;
}

}  // namespace debubble::sim
