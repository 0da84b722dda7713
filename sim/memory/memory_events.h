#pragma once

#include <cstdint>
#include <optional>
#include <variant>
#include <vector>

#include "base/purposes.h"
#include "schedule/schedule.h"
#include "sim/memory/memory_model.h"

/// The events of a rank's memory, in the order of its list of actions. With the times of actions
/// they give levels over time (sim/engine/follow_memory.h); an allocator is asked for every tensor
/// of them (memory_play.h).
namespace debubble::sim {

/// The memory held in addition to the tensors of passes and to the static level.
enum class Held : std::uint8_t {
    Received,   ///< a message's buffer, until the compute begins that reads it
    Sent,       ///< a message's buffer, until its transfer ends (or MemoryModel::keeps_messages)
    Gathered,   ///< a stage's parameters, between Unshard and Reshard
    Unreduced,  ///< gradients that wait for their reduction
    Gradients,  ///< gradients that have no buffer of their own
};

/// The start or the end of an action of the rank.
struct Moment {
    enum class Edge : std::uint8_t { Begin, End };
    std::uint32_t action = 0;  ///< index in the rank's list
    Edge edge{};
    friend bool operator==(const Moment&, const Moment&) = default;
};

struct Allocation {
    Moment at;
    Held held{};
    MemoryClass held_as{};
    Bytes bytes;  ///< greater than 0
    friend bool operator==(const Allocation&, const Allocation&) = default;
};
struct Release {
    Moment at;
    std::optional<Moment> not_before;  ///< a reduction that must have ended, too
    std::uint32_t allocation = 0;      ///< index of the event
    friend bool operator==(const Release&, const Release&) = default;
};
/// A pass allocates and frees tensors of its own from the start of its action to the end.
struct PassRuns {
    Compute pass;
    bool again = false;  ///< true for the forward of a Recompute
};
struct OptimizerRuns {};
/// The tensors that a forward has saved leave the device at the end of the action, or are on it
/// again from its start on.
struct SavedLeaves {
    Compute forward;
};
struct SavedReturns {
    Compute forward;
};

struct MemoryEvent {
    std::uint32_t action = 0;  ///< index of the action to which the event belongs
    std::variant<Allocation, Release, PassRuns, OptimizerRuns, SavedLeaves, SavedReturns> what;
};

/// The events of one rank. An event that ends while computes run (the transfer of a message, a copy
/// to the host) comes after the compute that follows its action, as on a device that does nothing
/// else between the two: it belongs to an earlier action than the events around it. An Overlap is
/// two passes, the second after all of the first. `index` is that of the program's placement.
/// The result takes over the memory of `storage`, whose content is dropped.
std::vector<MemoryEvent> memory_events(const Program& program, const PlacementIndex& index,
                                       Rank rank, const MemoryModel& memory,
                                       std::vector<MemoryEvent> storage = {});

}  // namespace debubble::sim
