#include "exec/cuda/queue.h"

#include <optional>
#include <string>
#include <thread>
#include <utility>

#include "exec/core/device_lanes.h"

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

void Queue::free_later(void* memory) {
    if (memory != nullptr) gpu_.retired_.push_back(memory);
}

void Gpu::free_retired() noexcept {
    for (void* memory : std::exchange(retired_, {})) free(memory);
}

void Queue::finish() {
    if (finished_ == nullptr) finished_ = gpu_.make_event();
    record(finished_);
    gpu_.await(finished_);
}

/// Polls, since CUDA has no wait with a deadline; the first hundred times without a pause. Checking
/// for progress costs a look at many events, so it is done rarely.
void Gpu::await(Event event) {
    using Clock = std::chrono::steady_clock;
    constexpr auto kPause = std::chrono::microseconds(20);
    constexpr int kLooks = 16;
    const auto look = [&] { return progress ? progress() : 0; };
    const Clock::time_point asked = Clock::now();
    Clock::time_point moved = asked, looked = asked;
    std::optional<std::size_t> seen;
    for (int times = 0; !reached(event); ++times) {
        if (times < 100)
            std::this_thread::yield();
        else
            std::this_thread::sleep_for(kPause);
        const Clock::time_point now = Clock::now();
        if (now - looked < patience / kLooks) continue;
        looked = now;
        const std::size_t number = look();
        if (std::exchange(seen, number) != number) moved = now;
        if (now - moved < patience) continue;
        const auto seconds = std::chrono::duration<double>(now - moved).count();
        throw DeviceStalled("the GPU has made no progress for " + std::to_string(seconds) + " s");
    }
}

}  // namespace debubble::exec::cuda
