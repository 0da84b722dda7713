#pragma once

#include <chrono>

namespace debubble::exec::cuda {

/// The time that queues wait before each piece of work. A slow compute lane exposes code that does
/// not wait for kernels, slow other lanes expose code that does not wait for communications.
struct EmulatedPace {
    std::chrono::microseconds compute{};
    std::chrono::microseconds others{};
};

/// The numbers of objects that the emulated GPU was asked to make so far.
struct EmulatedCounts {
    int queues = 0;
    int events = 0;
    int allocations = 0;
    int pins = 0;
    int kinds_of_products = 0;  ///< for each of them cuBLASLt would choose a kernel
    friend bool operator==(const EmulatedCounts&, const EmulatedCounts&) = default;
};

}  // namespace debubble::exec::cuda
