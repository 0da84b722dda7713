#pragma once

#include <stop_token>
#include <string>
#include <vector>

#include "base/memory_class.h"
#include "models/graph.h"
#include "scenarios/scenario.h"
#include "schedule/schedule.h"

namespace debubble::sim {

struct HeldTensor {
    std::string name;  ///< "2F5 mlp.fc1.out", or "optimizer" of the static level
    Bytes bytes;
    friend bool operator==(const HeldTensor&, const HeldTensor&) = default;
};

/// Device memory of one rank, as its allocator sees it.
struct PlayedMemory {
    Bytes peak_allocated;
    Bytes peak_reserved;      ///< taken from the device; fragmentation and rounding included
    MemoryByClass at_peak{};  ///< as asked for, without rounding, when most was allocated
    std::string action;       ///< in which it was, in text form
    std::string op;           ///< kernel for which it was allocated
    std::vector<HeldTensor> largest;  ///< at the peak, largest first
};

/// Plays the passes of a rank, allocation by allocation, in its own order through
/// the framework's allocator: buffers of messages, passes, gathered parameters, what is
/// offloaded, optimizer step. A send's buffer, and what is offloaded, is freed when the
/// compute after it has ended. Only the part of the step
/// up to its fullest moment, and a little beyond, is played.
///
/// Slower than the simulator's summed peaks, which it equals for the exact allocator.
PlayedMemory play_memory(const scenarios::Scenario& scenario,
                         const std::vector<models::StageContent>& stages, const Program& program,
                         Rank rank, std::size_t largest = 10);

/// PlayedMemory::peak_reserved of every rank, and nothing else of it, which is faster.
std::vector<Bytes> play_reserved(const scenarios::Scenario& scenario,
                                 const std::vector<models::StageContent>& stages,
                                 const Program& program, const std::stop_token& stop = {});

}  // namespace debubble::sim
