#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "base/units.h"
#include "models/memory/free_blocks.h"

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

/// PyTorch's CUDACachingAllocator (c10/cuda/CUDACachingAllocator.cpp): sizes rounded to 512 bytes;
/// up to 1 MiB from a pool of small blocks, more from another; best fit; free neighbours merge;
/// memory that was taken from the device is kept. One stream; the device never runs out.
class CachingAllocator {
public:
    /// The segments that are taken from the device if no free block is large enough.
    enum class Segments : std::uint8_t {
        /// A segment of its own (the default): of 2 MiB for small blocks, of 20 MiB below 10 MiB,
        /// else rounded to 2 MiB. A block is split if 512 bytes remain, a large one only if more
        /// than 1 MiB does.
        Fixed,
        /// As many pages of 20 MiB, of small blocks of 2 MiB, as the pool's one segment lacks after
        /// its last block (`expandable_segments:True`). That block is taken last, as it can still
        /// grow, and every block is split if 512 bytes remain.
        Expandable
    };

    explicit CachingAllocator(Segments segments = Segments::Fixed) : segments_(segments) {}

    int allocate(Bytes size);
    void free(int handle);
    const MemoryUsage& usage() const { return usage_; }

private:
    static constexpr int kNone = -1;  ///< no block
    struct Block {
        std::int64_t size = 0;
        std::int64_t address = 0;  ///< orders blocks of one size like the device's addresses
        int before = kNone;        ///< neighbours in the segment, kNone at its ends
        int after = kNone;
        FreeBlocks::Place place = {};  ///< while it is free
        bool small = false;
        bool used = false;
    };

    int new_block(std::int64_t size, std::int64_t address, int before, int after, bool small);
    int new_segment(std::int64_t size, bool small);
    int grown_segment(std::int64_t size, bool small);
    int best_fit(std::int64_t size, bool small) const;
    bool is_split(const Block& block, std::int64_t size) const;
    void split(int index, std::int64_t size);
    void merge_with_next(int index);
    void put_in_pool(int index);
    void take_from_pool(int index);
    FreeBlocks& pool_of(const Block& block) { return block.small ? small_ : large_; }

    Segments segments_;
    std::vector<Block> blocks_;
    std::vector<int> unused_;
    std::array<int, 2> last_{kNone,
                             kNone};  ///< last block of the grown segments: of large ones, of small
    FreeBlocks small_;
    FreeBlocks large_;
    std::int64_t next_address_ = 0;
    MemoryUsage usage_;
};

}  // namespace debubble::models
