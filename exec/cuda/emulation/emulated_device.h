#pragma once

#include <chrono>
#include <memory>

#include "exec/core/device.h"

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

/// The CUDA back end on an emulated GPU, for tests: the same kernels and operators, products by
/// a plain loop, its lanes threads. Its memory can be touched while kernels and copies run, and
/// is a fault for everybody else, so a test that passes proves that the rest of the executor
/// leaves a device's memory alone. `room` is the arena's; ranks on GPUs of other numbers do not
/// reach its memory.
std::unique_ptr<Device> make_emulated_device(Bytes room, const EmulatedPace& pace = {},
                                             int number = 0);

EmulatedCounts counts_of(const Device& emulated);

}  // namespace debubble::exec::cuda
