#pragma once

#include <cstddef>
#include <cstdint>

#include "exec/cuda/queue.h"

namespace debubble::exec::cuda {

/// Takes bytes of the host to the device without waiting for it: over pinned memory, made when it
/// is first used, whose halves are filled in turn. Waits only if the device is a whole half behind.
class HostRing {
public:
    explicit HostRing(Queue& queue) : queue_(queue) {}
    ~HostRing();
    HostRing(const HostRing&) = delete;
    HostRing& operator=(const HostRing&) = delete;

    /// The host's memory may change once this returns.
    void upload(const void* host, void* device, std::int64_t size);

private:
    void turn();

    static constexpr std::int64_t kHalf = std::int64_t{16} << 20;
    Queue& queue_;
    std::byte* memory_ = nullptr;
    Event left_[2] = {};  ///< the device has what was in this half
    int half_ = 0;
    std::int64_t used_ = 0;  ///< of this half
};

}  // namespace debubble::exec::cuda
