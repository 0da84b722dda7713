#include "sim/memory/memory_play.h"

#include <algorithm>
#include <limits>
#include <map>
#include <optional>
#include <span>
#include <utility>

#include "base/parallel.h"
#include "sim/memory/alike_ranks.h"
#include "sim/memory/allocator_player.h"
#include "sim/memory/memory_events.h"
#include "sim/memory/memory_log.h"
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
            // At once with the pass that overlaps it.
            const Bytes beside = pair && counts_messages_ ? above_ : Bytes{};
            last_ = event.action;
            above_ = pass.peak_above;
            rise(level_ + beside + pass.peak_above, end);
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
    Bytes above_;  ///< of the pass before this event
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
                    if (op.layer && graph.tensors[static_cast<std::size_t>(tensor)].routed)
                        layers[tensor] = *op.layer;
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

std::vector<Bytes> play_reserved(const scenarios::Scenario& scenario,
                                 const std::vector<models::StageContent>& contents,
                                 const Program& program,
                                 const std::vector<std::vector<ActionTimes>>& times,
                                 const std::stop_token& stop, const BytesOfTensors& bytes) {
    const RankStages stages(scenario, contents, program, RankStages::Names::OfOneAlike);
    std::vector<Bytes> reserved;
    Bytes by_allocator;
    std::vector<MemoryEvent> events;
    std::vector<std::uint32_t> order;
    for (Rank rank{0}; rank.index < program.placement.ranks(); ++rank.index) {
        give_up_if(stop);
        const ActionList& list = program.ranks[rank.index];
        // The events name the stages of their rank, of which each has bytes of its own.
        const bool alike =
            !bytes && rank.index > 0 && asks_alike(stages, program, Rank{rank.index - 1}, rank);
        if (!alike)
            events = memory_events(program, stages.index(), rank, stages, std::move(events));
        std::vector<std::uint32_t> in_time = order_in_time(events, times[rank.index]);
        if (!alike || in_time != order) {
            order = std::move(in_time);
            MemoryLog log(scenario.framework.allocator, MemoryLog::Keeps::Usage);
            AllocatorPlayer(stages, list, rank, log, bytes)
                .play_in_time(events, order,
                              bytes ? order.size() : played_part(stages, list, events, order));
            by_allocator = log.usage().peak_reserved;
        }
        reserved.push_back(by_allocator + stages.on_collective_streams(rank));
    }
    return reserved;
}

}  // namespace debubble::sim
