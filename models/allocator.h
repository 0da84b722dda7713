#pragma once

#include <cstdint>
#include <set>
#include <tuple>
#include <vector>

#include "base/units.h"

/// The device memory that a stream of allocations costs. Both allocators take the same calls:
/// allocate gives a handle, free takes it back.
namespace debubble::models {

struct MemoryUsage {
    Bytes allocated;  ///< bytes in use; a caching allocator includes its rounding
    Bytes reserved;   ///< bytes taken from the device
    Bytes peak_allocated;
    Bytes peak_reserved;
    friend bool operator==(const MemoryUsage&, const MemoryUsage&) = default;
};

/// Counts exactly the bytes asked for: an ideal arena that is planned ahead.
class ExactAllocator {
public:
    int allocate(Bytes size);
    void free(int handle);
    const MemoryUsage& usage() const { return usage_; }

private:
    std::vector<Bytes> sizes_;
    std::vector<int> unused_;
    MemoryUsage usage_;
};

/// PyTorch's CUDACachingAllocator with default settings (c10/cuda/CUDACachingAllocator.cpp):
/// sizes rounded to 512 bytes; up to 1 MiB from segments of 2 MiB; below 10 MiB from
/// segments of 20 MiB; more in segments rounded to 2 MiB; best fit; a block is split if
/// 512 bytes remain, a large one only if more than 1 MiB does; free neighbours merge;
/// segments are kept. One stream; the device never runs out.
class CachingAllocator {
public:
    int allocate(Bytes size);
    void free(int handle);
    const MemoryUsage& usage() const { return usage_; }

private:
    struct Block {
        std::int64_t size = 0;
        std::int64_t address = 0;  ///< orders blocks of one size like the device's addresses
        int before = -1;           ///< neighbours in the segment, -1 at its ends
        int after = -1;
        bool small = false;
        bool used = false;
    };
    using FreeBlock = std::tuple<std::int64_t, std::int64_t, int>;  ///< size, address, block
    using Pool = std::set<FreeBlock>;

    int new_block(Block block);
    int new_segment(std::int64_t size, bool small);
    void split(int index, std::int64_t size);
    void merge_with_next(int index);
    void put(Pool& pool, const FreeBlock& block);
    int take(Pool& pool, Pool::const_iterator at);
    Pool& pool_of(const Block& block) { return block.small ? small_ : large_; }

    std::vector<Block> blocks_;
    std::vector<int> unused_;
    Pool small_;
    Pool large_;
    std::vector<Pool::node_type> spare_;  ///< nodes taken out of a pool, to be used again
    std::int64_t next_address_ = 0;
    MemoryUsage usage_;
};

}  // namespace debubble::models
