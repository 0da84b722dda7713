#pragma once

#include <string>
#include <vector>

#include "base/memory_class.h"
#include "base/units.h"

namespace debubble::sim {

struct HeldTensor {
    std::string name;  ///< "2F5 mlp.fc1.out", or "optimizer" for the static level
    Bytes bytes;
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
