#pragma once

#include <cstddef>
#include <map>
#include <utility>

#include "exec/core/device_lanes.h"

namespace debubble::exec {

/// Pinned memory of the host, which is too expensive to be allocated in every step: a returned
/// block waits here until about as much is needed again. One thread uses it.
class PinnedPool {
public:
    explicit PinnedPool(DeviceLanes& lanes) : lanes_(lanes) {}
    PinnedPool(const PinnedPool&) = delete;
    PinnedPool& operator=(const PinnedPool&) = delete;
    ~PinnedPool() {
        for (const auto& [size, memory] : free_) lanes_.unpin(memory);
    }

    /// A block that returns to the pool when this object ends. The pool must outlive it.
    class Block {
    public:
        Block() = default;
        Block(PinnedPool& pool, Bytes size, std::byte* memory)
            : pool_(&pool), size_(size), memory_(memory) {}
        Block(Block&& other) noexcept
            : pool_(std::exchange(other.pool_, nullptr)),
              size_(other.size_),
              memory_(other.memory_) {}
        Block& operator=(Block&& other) noexcept {
            std::swap(pool_, other.pool_);
            std::swap(size_, other.size_);
            std::swap(memory_, other.memory_);
            return *this;
        }
        ~Block() {
            if (pool_ != nullptr) pool_->free_.insert({size_, memory_});
        }
        std::byte* data() const { return memory_; }

    private:
        PinnedPool* pool_ = nullptr;
        Bytes size_;
        std::byte* memory_ = nullptr;
    };

    /// Allocates this many blocks before they are wanted.
    void reserve(Bytes size, int blocks) {
        for (int i = 0; i < blocks; ++i) free_.insert({size, lanes_.pin(size)});
    }

    Block take(Bytes size) {
        const auto found = free_.lower_bound(size);
        if (found == free_.end() || found->first.count > 2 * size.count)
            return {*this, size, lanes_.pin(size)};
        const auto [had, memory] = *found;
        free_.erase(found);
        return {*this, had, memory};
    }

private:
    DeviceLanes& lanes_;
    std::multimap<Bytes, std::byte*> free_;  ///< by size
};

}  // namespace debubble::exec
