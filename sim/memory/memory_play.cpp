#include "sim/memory/memory_play.h"

#include <algorithm>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <utility>

#include "base/parallel.h"
#include "sim/memory/alike_ranks.h"
#include "sim/memory/allocator/allocator_player.h"
#include "sim/memory/memory_events.h"
#include "sim/memory/memory_log.h"
#include "sim/memory/pass_memory.h"
#include "sim/memory/rank_stages.h"

namespace debubble::sim {
namespace {

constexpr int kComputesBeyondPeak = 6;

/// True if the action changes what passes hold, so that levels do not follow from computes alone.
bool moves_what_passes_hold(const Action& action) {
    return std::holds_alternative<Offload>(action) || std::holds_alternative<Reload>(action) ||
           std::holds_alternative<Recompute>(action) || std::holds_alternative<Reshard>(action);
}

/// Looks for the event at which a rank is fullest by summed levels, in some order of its events.
class FullestEvent {
public:
    /// `counts_messages`: the buffers of messages too.
    FullestEvent(const RankStages& stages, const std::vector<MemoryEvent>& events,
                 bool counts_messages)
        : stages_(stages), events_(events), counts_messages_(counts_messages) {}

    void see(std::uint32_t index, std::size_t end) {
        const MemoryEvent& event = events_[index];
        if (const auto* allocation = std::get_if<Allocation>(&event.what)) {
            change(*allocation, 1);
            if (counts_messages_) rise(level_, end);
        } else if (const auto* release = std::get_if<Release>(&event.what)) {
            change(std::get<Allocation>(events_[release->allocation].what), -1);
        } else if (const auto* runs = std::get_if<PassRuns>(&event.what)) {
            const PassMemory& pass = stages_.memory_of(runs->pass);
            const bool pair = last_ == event.action;
            if (!pair && ++beyond_ <= kComputesBeyondPeak) end_ = end;
            Bytes fullest = level_ + pass.peak_above;
            // At once with the pass that overlaps it, whose end has been counted.
            if (pair && counts_messages_) fullest = before_ + peak_at_once(*first_, pass);
            last_ = event.action;
            first_ = &pass;
            before_ = level_;
            rise(fullest, end);
            level_ += pass.held_after;
        }
    }
    /// The end of the part up to that event, and a little more.
    std::size_t end() const { return end_; }

private:
    void change(const Allocation& of, std::int64_t sign) {
        if (counts_messages_ || of.held == Held::Unreduced || of.held == Held::Gradients)
            level_ += Bytes{sign * of.bytes.count};
    }
    void rise(Bytes level, std::size_t end) {
        if (level <= fullest_) return;
        fullest_ = level;
        beyond_ = 0;
        end_ = end;
    }

    const RankStages& stages_;
    const std::vector<MemoryEvent>& events_;
    bool counts_messages_;
    Bytes level_;
    Bytes fullest_;
    const PassMemory* first_ = nullptr;  ///< the pass before this event
    Bytes before_;                       ///< level at that pass's beginning
    std::size_t end_ = 0;
    int beyond_ = 0;
    std::optional<std::uint32_t> last_;
};

/// The length of the list up to the point where the rank is fullest, and a little more.
std::size_t played_part(const RankStages& stages, const ActionList& list,
                        const std::vector<MemoryEvent>& events) {
    if (std::ranges::any_of(list, moves_what_passes_hold)) return list.size();
    FullestEvent fullest(stages, events, false);
    for (std::uint32_t i = 0; i < events.size(); ++i) fullest.see(i, events[i].action + 1);
    return fullest.end();
}

/// The same part of an order of the events.
std::size_t played_part(const RankStages& stages, const ActionList& list,
                        const std::vector<MemoryEvent>& events,
                        std::span<const std::uint32_t> order) {
    const auto is_pair = [](const Action& a) { return std::holds_alternative<Overlap>(a); };
    const bool pairs = stages.pairs_layers() && std::ranges::any_of(list, is_pair);
    if (pairs || std::ranges::any_of(list, moves_what_passes_hold)) return order.size();
    FullestEvent fullest(stages, events, true);
    for (std::size_t i = 0; i < order.size(); ++i) {
        if (std::holds_alternative<OptimizerRuns>(events[order[i]].what)) break;
        fullest.see(order[i], i + 1);
    }
    std::size_t end = fullest.end();
    // Both passes of an Overlap.
    while (end > 0 && end < order.size() &&
           std::holds_alternative<PassRuns>(events[order[end]].what) &&
           events[order[end]].action == events[order[end - 1]].action)
        ++end;
    return end;
}

/// The bytes of tensors whose rows have come.
class RoutedBytes {
public:
    RoutedBytes(const RankStages& stages, const RowsThatCame& rows)
        : stages_(stages), rows_(rows) {}

    std::optional<Bytes> operator()(Stage stage, const MicroBatch& mb, std::size_t index) const {
        const models::StageGraph& graph = stages_.graph(stage, mb.slice.value_or(0));
        const models::Tensor& tensor = graph.tensors[index];
        if (!tensor.routed) return std::nullopt;
        const int layer = layers_of(graph).at(static_cast<int>(index));
        return Bytes{rows_(stage, mb, layer, tensor.routed->which) * tensor.routed->row_bytes};
    }

private:
    /// The layer of each tensor of routed rows, which is used in no other.
    const std::map<int, int>& layers_of(const models::StageGraph& graph) const {
        std::map<int, int>& layers = layers_[&graph];
        if (!layers.empty()) return layers;
        for (const models::Operator& op : graph.operators)
            for (const auto* uses :
                 {&op.forward_uses, &op.backward_input_uses, &op.backward_weight_uses})
                for (const int tensor : *uses)
                    if (op.layer && graph.tensors[tensor].routed) layers[tensor] = *op.layer;
        return layers;
    }

    const RankStages& stages_;
    const RowsThatCame& rows_;
    mutable std::map<const models::StageGraph*, std::map<int, int>> layers_;
};

}  // namespace

PlayedMemory play_memory(const scenarios::Scenario& scenario,
                         const std::vector<models::StageContent>& contents, const Program& program,
                         Rank rank, std::size_t largest, const RowsThatCame& rows) {
    const RankStages stages(scenario, contents, program, RankStages::Names::OfEachStage);
    MemoryLog log(scenario.framework.allocator);
    const ActionList& list = program.ranks[rank.index];
    const std::vector<MemoryEvent> events = memory_events(program, stages.index(), rank, stages);
    const BytesOfTensors bytes = rows ? RoutedBytes(stages, rows) : BytesOfTensors{};
    AllocatorPlayer(stages, list, rank, log, bytes)
        .play(events, rows ? list.size() : played_part(stages, list, events));
    PlayedMemory played = log.result(largest);
    played.peak_reserved += stages.on_collective_streams(rank);
    return played;
}

namespace {

/// Plays a rank in the order of time: all of the step, or what its peak needs.
PlayedMemory played_in_time(const scenarios::Scenario& scenario,
                            const std::vector<models::StageContent>& contents,
                            const Program& program, Rank rank, std::span<const ActionTimes> times,
                            bool all) {
    const RankStages stages(scenario, contents, program, RankStages::Names::OfEachStage);
    MemoryLog log(scenario.framework.allocator);
    const ActionList& list = program.ranks[rank.index];
    const std::vector<MemoryEvent> events = memory_events(program, stages.index(), rank, stages);
    const std::vector<std::uint32_t> order = order_in_time(events, times);
    AllocatorPlayer(stages, list, rank, log, {})
        .play_in_time(events, order, all ? order.size() : played_part(stages, list, events, order));
    PlayedMemory played = log.result(all ? std::numeric_limits<std::size_t>::max() : 10);
    played.peak_reserved += stages.on_collective_streams(rank);
    return played;
}

}  // namespace

PlayedMemory play_memory(const scenarios::Scenario& scenario,
                         const std::vector<models::StageContent>& contents, const Program& program,
                         Rank rank, std::span<const ActionTimes> times) {
    return played_in_time(scenario, contents, program, rank, times, false);
}

PlayedMemory tensors_at_peak(const scenarios::Scenario& scenario,
                             const std::vector<models::StageContent>& contents,
                             const Program& program, Rank rank,
                             std::span<const ActionTimes> times) {
    return played_in_time(scenario, contents, program, rank, times, true);
}

namespace {

/// Plays the ranks from the last one to the first, whose warm-ups grow: each goes on where it parts
/// with the one before.
class ReservedByRank {
public:
    ReservedByRank(const scenarios::Scenario& scenario, const RankStages& stages,
                   const Program& program, const std::vector<std::vector<ActionTimes>>& times,
                   const BytesOfTensors& bytes)
        : scenario_(scenario), stages_(stages), program_(program), times_(times), bytes_(bytes) {}

    std::vector<Bytes> run(const std::stop_token& stop) {
        std::vector<Bytes> reserved(program_.placement.ranks());
        std::vector<Rank> alike;  // with the rank at hand
        now_ = events_of(Rank{program_.placement.ranks() - 1});
        for (Rank rank = now_.of.rank; rank.index >= 0; --rank.index) {
            give_up_if(stop);
            alike.push_back(rank);
            const Rank next{rank.index - 1};
            if (next.index >= 0 && is_as_now(next, rank)) continue;
            std::optional<RankEvents> other;
            if (next.index >= 0) other = events_of(next);
            const Bytes by_allocator = play(other);
            for (const Rank of : alike)
                reserved[of.index] = by_allocator + stages_.on_collective_streams(of);
            alike.clear();
            if (!other) break;
            std::swap(now_, *other);
            unused_ = std::move(other->of.events);
        }
        return reserved;
    }

private:
    struct RankEvents {
        OrderedEvents of;
        std::size_t end = 0;  ///< number of them that are played
    };

    /// An allocator and its player in the midst of a rank's step.
    struct Midway {
        MemoryLog log;
        AllocatorPlayer player;
        std::size_t at = 0;  ///< events played

        Midway(MemoryLog so_far, const AllocatorPlayer& other, std::size_t played,
               const Program& program, Rank rank)
            : log(std::move(so_far)),
              player(other, program.placement, list_of(program, rank), rank, log),
              at(played) {}
    };

    static const ActionList& list_of(const Program& program, Rank rank) {
        return program.ranks[rank.index];
    }
    std::vector<std::uint32_t> order_of(Rank rank, const std::vector<MemoryEvent>& events) const {
        return order_in_time(events, times_[rank.index]);
    }
    RankEvents events_of(Rank rank) {
        RankEvents made{
            {rank, memory_events(program_, stages_.index(), rank, stages_, std::move(unused_)), {}},
            0};
        OrderedEvents& of = made.of;
        of.order = order_of(rank, of.events);
        made.end = bytes_ ? of.order.size()
                          : played_part(stages_, list_of(program_, rank), of.events, of.order);
        return made;
    }
    /// True if the neighbour of a rank like the one at hand is another such rank. The events name
    /// the stages of their rank, of which each has bytes of its own where `bytes_` says so.
    bool is_as_now(Rank next, Rank rank) const {
        return !bytes_ && asks_alike(stages_, program_, next, rank) &&
               order_of(next, now_.of.events) == now_.of.order;
    }

    /// Plays the rank whose events are at hand, and leaves to the next one what it shares.
    Bytes play(const std::optional<RankEvents>& next) {
        const auto& [of, end] = now_;
        MemoryLog fresh(scenario_.framework.allocator, MemoryLog::Keeps::Usage);
        const std::unique_ptr<Midway> begun = std::move(begun_);
        std::optional<AllocatorPlayer> first;
        if (!begun) first.emplace(stages_, list_of(program_, of.rank), of.rank, fresh, bytes_);
        MemoryLog& log = begun ? begun->log : fresh;
        AllocatorPlayer& player = begun ? begun->player : *first;
        std::size_t at = begun ? begun->at : 0;
        if (next && !bytes_) {
            const std::size_t shared =
                std::min({end, next->end, shared_requests(stages_, program_, of, next->of)});
            if (shared > at) {
                at = player.play_events(of.events, of.order, at, shared);
                begun_ = std::make_unique<Midway>(log, player, at, program_, next->of.rank);
            }
        }
        at = player.play_events(of.events, of.order, at, end);
        player.step_with(of.events, std::span(of.order).subspan(at));
        return log.usage().peak_reserved;
    }

    const scenarios::Scenario& scenario_;
    const RankStages& stages_;
    const Program& program_;
    const std::vector<std::vector<ActionTimes>>& times_;
    const BytesOfTensors& bytes_;
    RankEvents now_;
    std::vector<MemoryEvent> unused_;  ///< whose memory the next events take over
    std::unique_ptr<Midway> begun_;    ///< what the rank at hand shares with the one before
};

}  // namespace

std::vector<Bytes> play_reserved(const scenarios::Scenario& scenario,
                                 const std::vector<models::StageContent>& contents,
                                 const Program& program,
                                 const std::vector<std::vector<ActionTimes>>& times,
                                 const std::stop_token& stop, const BytesOfTensors& bytes) {
    const RankStages stages(scenario, contents, program, RankStages::Names::OfOneAlike);
    return ReservedByRank(scenario, stages, program, times, bytes).run(stop);
}

}  // namespace debubble::sim
