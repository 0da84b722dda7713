#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/purposes.h"
#include "base/units.h"
#include "schedule/action.h"

namespace debubble::sim {

struct HeldTensor {
    std::string name;  ///< "2F5 mlp.fc1.out", or "optimizer" for the static level
    Bytes bytes;
    MemoryClass held_as{};
    std::optional<std::string> tensor = {};  ///< "mlp.fc1.out"; unset for the static level
    std::optional<Action> born = {};   ///< in which it was allocated; unset for the static level
    std::optional<Action> freed = {};  ///< unset if nothing frees it in what was played
    friend bool operator==(const HeldTensor&, const HeldTensor&) = default;
};

/// Device memory of one rank, as its allocator sees it.
struct PlayedMemory {
    Bytes peak_allocated;
    Bytes peak_reserved;      ///< bytes taken from the device; fragmentation and rounding included
    MemoryByClass at_peak{};  ///< bytes requested, without rounding, when most was allocated
    std::string action;       ///< text form of the action at that time
    std::string op;           ///< kernel for which it was allocated
    std::vector<HeldTensor> largest;  ///< tensors at the peak, largest first
};

}  // namespace debubble::sim
