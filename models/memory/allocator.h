#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
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
    /// The same as to free one after the other, which comes to the same free blocks in any order,
    /// in time that does not grow with the square of their number.
    void free_all(std::span<const int> handles);
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
    struct FreeBlock {
        std::int64_t size = 0;
        std::int64_t address = 0;
        int block = 0;
        friend bool operator<(const FreeBlock& a, const FreeBlock& b) {
            return a.size != b.size ? a.size < b.size : a.address < b.address;
        }
    };
    /// Sorted. A pool has some tens of blocks, which are moved faster than a tree is balanced.
    using Pool = std::vector<FreeBlock>;

    int new_block(Block block);
    int new_segment(std::int64_t size, bool small);
    int grown_segment(std::int64_t size, bool small);
    Pool::iterator best_fit(Pool& pool, std::int64_t size) const;
    bool is_split(const Block& block, std::int64_t size) const;
    FreeBlock split(int index, std::int64_t size);
    void merge_with_next(int index);
    FreeBlock free_block(int index) const {
        return {blocks_[index].size, blocks_[index].address, index};
    }
    Pool& pool_of(const Block& block) { return block.small ? small_ : large_; }

    Segments segments_;
    std::vector<Block> blocks_;
    std::vector<int> unused_;
    std::array<int, 2> last_{-1,
                             -1};  ///< last block of the grown segments: of large ones, of small
    Pool small_;
    Pool large_;
    std::int64_t next_address_ = 0;
    MemoryUsage usage_;
};

}  // namespace debubble::models
