#include "exec/cuda/queue.h"

#include <string>
#include <thread>

#include "exec/device_lanes.h"

namespace debubble::exec::cuda {

Queue::~Queue() {
    if (finished_ != nullptr) gpu_.destroy(finished_);
}

void* Queue::allocate(std::int64_t size) {
    return gpu_.allocate(size);
}

void Queue::free(void* memory) noexcept {
    if (memory != nullptr) gpu_.free(memory);
}

void Queue::finish() {
    if (finished_ == nullptr) finished_ = gpu_.make_event();
    record(finished_);
    gpu_.await(finished_);
}

/// Asks again and again: CUDA knows no wait with a deadline. The first hundred times at once.
void Gpu::await(Event event) {
    using Clock = std::chrono::steady_clock;
    constexpr auto kPause = std::chrono::microseconds(20);
    const Clock::time_point asked = Clock::now();
    for (int times = 0; !reached(event); ++times) {
        if (times < 100)
            std::this_thread::yield();
        else
            std::this_thread::sleep_for(kPause);
        if (Clock::now() - asked < patience) continue;
        const auto seconds = std::chrono::duration<double>(Clock::now() - asked).count();
        throw DeviceStalled("the GPU was not done within " + std::to_string(seconds) + " s");
    }
}

}  // namespace debubble::exec::cuda
