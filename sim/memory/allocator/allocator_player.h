#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "models/graph/graph.h"
#include "models/graph/operator_runs.h"
#include "schedule/schedule.h"
#include "sim/memory/bytes_of_tensors.h"
#include "sim/memory/memory_events.h"
#include "sim/memory/memory_log.h"
#include "sim/memory/rank_stages.h"

namespace debubble::sim {

/// Requests from a MemoryLog the memory of a rank's events and of the steps of its passes. Private
/// to the folder: users see memory_play.h.
class AllocatorPlayer {
public:
    /// Allocates what the rank holds throughout. All references must outlive the player.
    AllocatorPlayer(const RankStages& stages, const ActionList& list, Rank rank, MemoryLog& log,
                    const BytesOfTensors& bytes);
    /// Goes on where another rank's player is, for a rank that has asked for the same up to there
    /// (alike_ranks.h). `log` is a copy of the other one's.
    AllocatorPlayer(const AllocatorPlayer& other, const Placement& placement,
                    const ActionList& list, Rank rank, MemoryLog& log);

    /// Plays the events of the first `actions` in the order of the list, and then the optimizer.
    /// The passes of an Overlap run one after the other, as the executor runs them.
    void play(const std::vector<MemoryEvent>& events, std::size_t actions);
    /// Plays the first `played` events of an order, and then the optimizer with what the rest of
    /// the order leaves to it. The passes of an Overlap are at their greatest levels at once, as
    /// the ledger has them.
    void play_in_time(const std::vector<MemoryEvent>& events, std::span<const std::uint32_t> order,
                      std::size_t played);
    /// The same in parts: the events [from, to) of the order, but no optimizer and what is after
    /// it. Returns where it has come to.
    std::size_t play_events(const std::vector<MemoryEvent>& events,
                            std::span<const std::uint32_t> order, std::size_t from, std::size_t to);
    /// Plays the optimizer's step beside everything that is there then. `rest`: what the order has
    /// from here on, of which all before the step has come and gone.
    void step_with(const std::vector<MemoryEvent>& events, std::span<const std::uint32_t> rest);

private:
    using AtStage = std::pair<Stage, MicroBatch>;
    class Turn;

    void apply(const std::vector<MemoryEvent>& events, std::size_t index);
    void finish();
    void run(const PassRuns& runs);
    void after(const Compute& c, bool again);

    int allocate(const Allocation& a);
    int allocate(const AtStage& of, std::size_t index, std::string_view op);
    Bytes bytes_of(const AtStage& of, const models::StageGraph& graph, std::size_t index) const {
        if (bytes_)
            if (const auto bytes = bytes_(of.first, of.second, index)) return *bytes;
        return graph.tensors[index].bytes;
    }
    void release(int& handle) { log_.free(std::exchange(handle, MemoryLog::kNone)); }
    void offload(const AtStage& key);
    void reload(const AtStage& key);
    void keep_input_only(const AtStage& of);
    void hold(const MemoryByClass& level);

    static AtStage key_of(const Compute& c) { return {c.stage, c.micro_batch}; }
    const models::StageGraph& graph_of(const AtStage& of) const {
        return stages_.graph(of.first, of.second.slice.value_or(0));
    }
    bool seen_later(const AtStage& of, std::size_t tensor) const {
        return graph_of(of).tensors[tensor].slices == models::Across::Seen;
    }

    // allocator_passes.cpp
    void pair(const Compute& first, const Compute& second);
    void at_once(const Compute& first, const Compute& second);
    void pass(const Compute& c);
    /// Runs the steps [begin, end) and calls `before` ahead of each.
    template <class Before>
    void run_steps(const AtStage& key, const models::PassSteps& pass, std::size_t begin,
                   std::size_t end, const Before& before);

    /// One of the allocations that hold what is gathered and not reduced.
    struct HeldPart {
        int handle = MemoryLog::kNone;
        Bytes bytes;
    };

    const RankStages& stages_;
    const ActionList& list_;
    Rank rank_;
    MemoryLog& log_;
    const BytesOfTensors& bytes_;
    std::array<std::vector<HeldPart>, kMemoryClasses> held_;
    std::set<Stage> recomputed_;                  ///< stages that keep only their input until
                                                  ///< Recompute
    std::vector<int> handles_;                    ///< by event: handle of the Allocation's memory
    std::map<AtStage, std::vector<int>> passes_;  ///< handles by tensor
    std::map<AtStage, std::vector<std::size_t>> offloaded_;  ///< tensors on the host
    int gradients_ = MemoryLog::kNone;
    const Action* action_ = nullptr;
    std::optional<PassRuns> beside_;  ///< the first pass of a pair, until its second one runs
    bool in_time_ = false;
};

}  // namespace debubble::sim
