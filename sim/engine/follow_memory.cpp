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
#include "sim/memory/rank_ledger.h"

namespace debubble::sim {
namespace {

/// The memory of the passes of one rank, each kind computed once.
class PassTable {
public:
    PassTable(const Program& program, const PlacementIndex& index, Rank rank,
              const MemoryModel& memory)
        : memory_(memory),
          list_(program.ranks[rank.index]),
          rank_(rank),
          local_(index, rank),
          slices_(program.shape.slices),
          micro_batches_(memory.per_micro_batch() ? program.shape.micro_batches : 1),
          known_(kKinds * slices_ * micro_batches_ * program.placement.stages_of(rank).size()) {}

    const PassMemory& of_action(std::uint32_t action) {
        return std::visit(Overloaded{[&](const Compute& c) -> const PassMemory& { return of(c); },
                                     [&](const Recompute& r) -> const PassMemory& { return of(r); },
                                     [&](const Overlap& o) -> const PassMemory& { return of(o); },
                                     [&](const auto&) -> const PassMemory& { return optimizer(); }},
                          list_[action]);
    }
    /// The bytes that copies to the host and back move.
    Bytes saved_by(const Compute& forward) {
        const PassMemory& memory = of(forward);
        return memory.held_after - memory.stays;
    }

private:
    static constexpr std::size_t kAgain = 4;  // index after those of the four passes
    static constexpr std::size_t kKinds = 5;

    const PassMemory& of(const Compute& c) {
        std::optional<PassMemory>& known = slot(position_of(c.pass), c.stage, c.micro_batch);
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
        if (!memory_.per_micro_batch())
            key.first.micro_batch.index = key.second.micro_batch.index = 0;
        const auto [place, is_new] = overlaps_.try_emplace(key);
        if (is_new) place->second = memory_.overlap(o);
        return place->second;
    }
    const PassMemory& optimizer() {
        optimizer_.peak_above = memory_.optimizer_transient(rank_);
        optimizer_.at_peak[MemoryClass::Workspace] = optimizer_.peak_above;
        optimizer_.op_at_peak = "optimizer";
        return optimizer_;
    }
    std::optional<PassMemory>& slot(std::size_t kind, Stage stage, MicroBatch mb) {
        const std::size_t row =
            local_.index_of(stage) * micro_batches_ + (micro_batches_ > 1 ? mb.index : 0);
        return known_[(row * kKinds + kind) * slices_ + mb.slice.value_or(0)];
    }

    const MemoryModel& memory_;
    const ActionList& list_;
    Rank rank_;
    LocalStages local_;
    std::size_t slices_;
    std::size_t micro_batches_;                     ///< that the model tells apart
    std::vector<std::optional<PassMemory>> known_;  // stage of the rank x kind x slice
    std::map<std::pair<Compute, Compute>, PassMemory> overlaps_;
    PassMemory optimizer_;
};

/// Plays the changes of a ledger.
class Player {
public:
    Player(const ActionList& list, Rank rank, const MemoryByClass& held,
           const std::vector<MemoryEvent>& events, PassTable& passes,
           std::vector<MemorySample>* samples)
        : list_(list),
          rank_(rank),
          events_(events),
          passes_(passes),
          held_(held),
          sum_(total(held)),
          samples_(samples),
          peak_{Instant{}, held, "", "static"},
          peak_sum_(sum_) {
        if (samples_ == nullptr) return;
        for (std::size_t c = 0; c < kMemoryClasses; ++c)
            sample(Instant{}, static_cast<MemoryClass>(c), held[c]);
    }

    MemoryPeak play(const RankLedger& ledger) {
        ledger.for_each([&](const LedgerChange& change) { apply(change); });
        if (!peak_action_) return peak_;
        peak_.action = to_text(list_[*peak_action_]);
        peak_.op = "";
        if (peak_inside_ == nullptr) return peak_;
        peak_.op = peak_inside_->op_at_peak;
        for (std::size_t c = 0; c < kMemoryClasses; ++c) peak_.held[c] += peak_inside_->at_peak[c];
        return peak_;
    }

private:
    /// What the change adds to its class.
    Bytes delta_of(const LedgerChange& change) {
        using enum LedgerChange::What;
        switch (change.what) {
            case Memory: return change.delta;
            case PassBegins: break;
            case PassEnds: return passes_.of_action(change.action).held_after;
            case SavedLeaves:
                return Bytes{-passes_.saved_by(forward_of(events_[change.event])).count};
            case SavedReturns: return passes_.saved_by(forward_of(events_[change.event]));
        }
        return {};
    }
    void apply(const LedgerChange& change) {
        using enum LedgerChange::What;
        const Bytes delta = delta_of(change);
        const bool copies = change.what == SavedLeaves || change.what == SavedReturns;
        if (copies && delta.count == 0) return;
        const bool of_pass = change.what == PassBegins || change.what == PassEnds;
        const PassMemory* pass = of_pass ? &passes_.of_action(change.action) : nullptr;
        held_[change.held_as] += delta;
        sum_ += delta;
        if (of_pass) inside_ = change.what == PassBegins ? pass : nullptr;
        if (samples_ != nullptr) show(change, pass);
        // The instant at which a message is sent says little about the time when its buffer is
        // requested.
        const PassMemory* running = change.quiet ? nullptr : inside_;
        const Bytes sum = sum_ + (running != nullptr ? running->peak_above : Bytes{});
        if (sum <= peak_sum_) return;
        peak_sum_ = sum;
        peak_.at = change.when;
        peak_.held = held_;
        peak_action_ = change.action;
        peak_inside_ = running;
    }
    /// A compute, `of` if one begins or ends here, shows the memory at its greatest level, and
    /// returns to the level that it leaves.
    void show(const LedgerChange& change, const PassMemory* of) {
        if (change.quiet) {
            unseen_ = true;
            return;
        }
        for (std::size_t c = 0; c < kMemoryClasses; ++c) {
            const auto held_as = static_cast<MemoryClass>(c);
            const bool changes = held_as == change.held_as ||
                                 (of != nullptr && of->at_peak[c].count != 0) ||
                                 (unseen_ && held_as == MemoryClass::Activations);
            if (!changes) continue;
            const Bytes more = inside_ != nullptr ? inside_->at_peak[c] : Bytes{};
            sample(change.when, held_as, held_[c] + more);
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
    const std::vector<MemoryEvent>& events_;
    PassTable& passes_;
    MemoryByClass held_;
    Bytes sum_;                           ///< of `held_`
    std::vector<MemorySample>* samples_;  ///< nullptr: none are wanted
    MemoryPeak peak_;
    Bytes peak_sum_;
    std::optional<std::uint32_t> peak_action_;  ///< unset: the rank is fullest at the start
    const PassMemory* peak_inside_ = nullptr;   ///< the compute that runs at the peak
    const PassMemory* inside_ = nullptr;        ///< the compute that is running
    bool unseen_ = false;                       ///< true if buffers of messages have changed
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

std::vector<ActionTimes> times_of(std::span<const ActionTasks> tasks,
                                  std::span<const TaskTimes> times) {
    std::vector<ActionTimes> actions;
    actions.reserve(tasks.size());
    for (const ActionTasks& of : tasks)
        actions.push_back({times[of.first].begin, times[of.last].end});
    return actions;
}

FollowedMemory follow_memory(const Program& program,
                             const std::vector<std::vector<ActionTimes>>& times,
                             const MemoryModel& memory, bool keep_samples) {
    FollowedMemory followed;
    const PlacementIndex index(program.placement);
    std::vector<MemoryEvent> events;
    for (int r = 0; r < program.shape.ranks; ++r) {
        const Rank rank{r};
        const ActionList& list = program.ranks[r];
        PassTable passes(program, index, rank, memory);
        if (!follows_its_neighbour(program, index, rank, memory))
            events = memory_events(program, index, rank, memory, std::move(events));
        Player player(list, rank, memory.static_memory(rank), events, passes,
                      keep_samples ? &followed.samples : nullptr);
        followed.peaks.push_back(player.play(RankLedger(events, times[r])));
    }
    return followed;
}

}  // namespace debubble::sim
