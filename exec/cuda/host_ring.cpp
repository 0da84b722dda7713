#include "exec/cuda/cuda_kernels.h"

#include <algorithm>
#include <cstring>

namespace debubble::exec::cuda {

HostRing::~HostRing() {
    if (memory_ == nullptr) return;
    for (Event event : left_) queue_.gpu().destroy(event);
    queue_.gpu().unpin(memory_);
}

void HostRing::turn() {
    queue_.record(left_[half_]);
    half_ = 1 - half_;
    used_ = 0;
    queue_.gpu().await(left_[half_]);
}

void HostRing::upload(const void* host, void* device, std::int64_t size) {
    if (memory_ == nullptr) {
        memory_ = static_cast<std::byte*>(queue_.gpu().pin(2 * kHalf));
        for (Event& event : left_) event = queue_.gpu().make_event();
    }
    for (std::int64_t done = 0; done < size;) {
        if (used_ == kHalf) turn();
        const std::int64_t count = std::min(size - done, kHalf - used_);
        std::byte* const here = memory_ + half_ * kHalf + used_;
        std::memcpy(here, static_cast<const std::byte*>(host) + done,
                    static_cast<std::size_t>(count));
        queue_.copy(here, static_cast<std::byte*>(device) + done, count);
        done += count;
        used_ += count;
    }
}

}  // namespace debubble::exec::cuda
