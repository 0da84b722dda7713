#pragma once

#include <chrono>

namespace debubble::exec::cuda {

/// How long queues wait before each thing that they do: a slow compute lane shows who does not
/// wait for kernels, slow other lanes who does not wait for communications.
struct EmulatedPace {
    std::chrono::microseconds compute{};
    std::chrono::microseconds others{};
};

/// What the emulated GPU was asked to make, so far.
struct EmulatedCounts {
    int queues = 0;
    int events = 0;
    int allocations = 0;
    int pins = 0;
    int kinds_of_products = 0;  ///< for each of which cuBLASLt would choose a kernel
    friend bool operator==(const EmulatedCounts&, const EmulatedCounts&) = default;
};

}  // namespace debubble::exec::cuda
