#include "sim/memory/memory_play.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "base/cancelled.h"
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

/// The length of the list up to the point where the rank is fullest by summed levels of its passes,
/// and a little more.
std::size_t played_part(const RankStages& stages, const ActionList& list,
                        const std::vector<MemoryEvent>& events) {
    if (std::ranges::any_of(list, moves_what_passes_hold)) return list.size();
    Bytes level;
    Bytes fullest;
    std::size_t end = 0;
    int beyond = 0;
    std::optional<std::uint32_t> last;
    const auto change = [&](const Allocation& of, std::int64_t sign) {
        if (of.held == Held::Unreduced || of.held == Held::Gradients)
            level += Bytes{sign * of.bytes.count};
    };
    for (const MemoryEvent& event : events) {
        if (const auto* allocation = std::get_if<Allocation>(&event.what)) {
            change(*allocation, 1);
        } else if (const auto* release = std::get_if<Release>(&event.what)) {
            change(std::get<Allocation>(events[release->allocation].what), -1);
        } else if (const auto* runs = std::get_if<PassRuns>(&event.what)) {
            const PassMemory& pass = stages.memory_of(runs->pass);
            if (last != event.action && ++beyond <= kComputesBeyondPeak) end = event.action + 1;
            last = event.action;
            if (level + pass.peak_above > fullest) {
                fullest = level + pass.peak_above;
                beyond = 0;
                end = event.action + 1;
            }
            level += pass.held_after;
        }
    }
    return end;
}

/// Plays the list up to the rank's fullest moment.
void play_list(const RankStages& stages, const Program& program, Rank rank,
               const std::vector<MemoryEvent>& events, MemoryLog& log,
               const RowsThatCame& rows = {}) {
    const ActionList& list = program.ranks[rank.index];
    const std::size_t played = rows ? list.size() : played_part(stages, list, events);
    AllocatorPlayer(stages, list, rank, log, rows).play(events, played);
}

}  // namespace

PlayedMemory play_memory(const scenarios::Scenario& scenario,
                         const std::vector<models::StageContent>& contents, const Program& program,
                         Rank rank, std::size_t largest, const RowsThatCame& rows) {
    const RankStages stages(scenario, contents, program, RankStages::Names::OfEachStage);
    MemoryLog log(scenario.framework.allocator);
    play_list(stages, program, rank, memory_events(program, stages.index(), rank, stages), log,
              rows);
    PlayedMemory played = log.result(largest);
    played.peak_reserved += stages.on_collective_streams(rank);
    return played;
}

std::vector<Bytes> play_reserved(const scenarios::Scenario& scenario,
                                 const std::vector<models::StageContent>& contents,
                                 const Program& program, const std::stop_token& stop) {
    const RankStages stages(scenario, contents, program, RankStages::Names::OfOneAlike);
    std::vector<Bytes> reserved;
    Bytes by_allocator;
    std::vector<MemoryEvent> events;
    for (Rank rank{0}; rank.index < program.placement.ranks(); ++rank.index) {
        give_up_if(stop);
        if (rank.index == 0 || !asks_alike(stages, program, Rank{rank.index - 1}, rank)) {
            MemoryLog log(scenario.framework.allocator, MemoryLog::Keeps::Usage);
            events = memory_events(program, stages.index(), rank, stages, std::move(events));
            play_list(stages, program, rank, events, log);
            by_allocator = log.usage().peak_reserved;
        }
        reserved.push_back(by_allocator + stages.on_collective_streams(rank));
    }
    return reserved;
}

}  // namespace debubble::sim
