#pragma once

#include <cstddef>
#include <cstdint>

#include "exec/cuda/queue.h"

namespace debubble::exec::cuda {

/// Copies bytes of the host to the device without waiting for the device: over pinned memory, which
/// is made at the first use and whose halves are filled in turn. It waits only if the device is a
/// whole half behind.
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
    Event left_[2] = {};  ///< the device has read the content of this half
    int half_ = 0;
    std::int64_t used_ = 0;  ///< bytes used of this half
};

}  // namespace debubble::exec::cuda
