#include "models/memory/allocator.h"

#include <algorithm>
#include <cassert>

namespace debubble::models {

namespace {

constexpr std::int64_t kMiB = 1 << 20;
constexpr std::int64_t kGranule = 512;
constexpr std::int64_t kLargestSmall = kMiB;
constexpr std::int64_t kSmallSegment = 2 * kMiB;
constexpr std::int64_t kMiddleSegment = 20 * kMiB;
constexpr std::int64_t kSmallestOwnSegment = 10 * kMiB;

std::int64_t round_up(std::int64_t size, std::int64_t to) {
    return (size + to - 1) / to * to;
}

std::int64_t segment_size(std::int64_t size) {
    if (size <= kLargestSmall) return kSmallSegment;
    return size < kSmallestOwnSegment ? kMiddleSegment : round_up(size, kSmallSegment);
}

/// The increment of a growing segment.
std::int64_t page_size(bool small) {
    return small ? kSmallSegment : kMiddleSegment;
}

void add(Bytes& held, Bytes& peak, std::int64_t size) {
    held += Bytes{size};
    peak = std::max(peak, held);
}

}  // namespace

int ExactAllocator::allocate(Bytes size) {
    assert(size.count >= 0 && "a tensor cannot have a negative size");
    int handle = static_cast<int>(sizes_.size());
    if (unused_.empty()) {
        sizes_.push_back(size);
    } else {
        handle = unused_.back();
        unused_.pop_back();
        sizes_[handle] = size;
    }
    add(usage_.allocated, usage_.peak_allocated, size.count);
    add(usage_.reserved, usage_.peak_reserved, size.count);
    return handle;
}

void ExactAllocator::free(int handle) {
    usage_.allocated -= sizes_[handle];
    usage_.reserved -= sizes_[handle];
    unused_.push_back(handle);
}

int CachingAllocator::new_block(std::int64_t size, std::int64_t address, int before, int after,
                                bool small) {
    int index = static_cast<int>(blocks_.size());
    if (unused_.empty()) {
        blocks_.emplace_back();
    } else {
        index = unused_.back();
        unused_.pop_back();
    }
    Block& block = blocks_[index];
    block.size = size;
    block.address = address;
    block.before = before;
    block.after = after;
    block.small = small;
    block.used = false;
    return index;
}

int CachingAllocator::new_segment(std::int64_t size, bool small) {
    const int index = new_block(size, next_address_, kNone, kNone, small);
    next_address_ += size;
    add(usage_.reserved, usage_.peak_reserved, size);
    return index;
}

/// The last block of the pool's segment, made as large as asked for by pages after it.
int CachingAllocator::grown_segment(std::int64_t size, bool small) {
    int& last = last_[small ? 1 : 0];
    const bool free = last >= 0 && !blocks_[last].used;
    const std::int64_t there = free ? blocks_[last].size : 0;
    const std::int64_t more = round_up(size - there, page_size(small));
    add(usage_.reserved, usage_.peak_reserved, more);
    if (free) {
        take_from_pool(last);
        blocks_[last].size += more;
        return last;
    }
    const std::int64_t address = last < 0 ? 0 : blocks_[last].address + blocks_[last].size;
    const int index = new_block(more, address, last, kNone, small);
    if (last >= 0) blocks_[last].after = index;
    last = index;
    return index;
}

/// A block that can still grow is taken where no other one fits.
int CachingAllocator::best_fit(std::int64_t size, bool small) const {
    using FreeBlock = FreeBlocks::Block;
    const FreeBlocks& pool = small ? small_ : large_;
    const auto id_of = [](const FreeBlock* fit) {
        return fit == nullptr ? kNone : static_cast<int>(fit->id);
    };
    if (segments_ == Segments::Fixed) return id_of(pool.best_fit(size));
    const int last = last_[small ? 1 : 0];
    const FreeBlock* other = pool.best_fit(size, [&](const FreeBlock& b) { return b.id != last; });
    return id_of(other != nullptr ? other : pool.best_fit(size));
}

bool CachingAllocator::is_split(const Block& block, std::int64_t size) const {
    const std::int64_t remaining = block.size - size;
    if (block.small || segments_ == Segments::Expandable) return remaining >= kGranule;
    return remaining > kLargestSmall;
}

/// Cuts what is asked for off a block; the rest is free.
void CachingAllocator::split(int index, std::int64_t size) {
    const Block whole = blocks_[index];
    const int rest =
        new_block(whole.size - size, whole.address + size, index, whole.after, whole.small);
    if (whole.after >= 0) blocks_[whole.after].before = rest;
    blocks_[index].size = size;
    blocks_[index].after = rest;
    if (last_[whole.small ? 1 : 0] == index) last_[whole.small ? 1 : 0] = rest;
    put_in_pool(rest);
}

void CachingAllocator::merge_with_next(int index) {
    Block& block = blocks_[index];
    const int next = block.after;
    block.size += blocks_[next].size;
    block.after = blocks_[next].after;
    if (block.after >= 0) blocks_[block.after].before = index;
    if (last_[block.small ? 1 : 0] == next) last_[block.small ? 1 : 0] = index;
    unused_.push_back(next);
}

void CachingAllocator::put_in_pool(int index) {
    Block& block = blocks_[index];
    block.place = pool_of(block).insert({block.size, index, block.address});
}

void CachingAllocator::take_from_pool(int index) {
    const Block& block = blocks_[index];
    const FreeBlocks::Place place = block.place;
    if (const auto* moved = pool_of(block).remove({block.size, index, block.address}, place))
        blocks_[moved->id].place = place;
}

int CachingAllocator::allocate(Bytes asked) {
    assert(asked.count >= 0 && "a tensor cannot have a negative size");
    const std::int64_t size = std::max(kGranule, round_up(asked.count, kGranule));
    const bool small = size <= kLargestSmall;
    int index = best_fit(size, small);
    if (index != kNone) {
        take_from_pool(index);
    } else if (segments_ == Segments::Fixed) {
        index = new_segment(segment_size(size), small);
    } else {
        index = grown_segment(size, small);
    }
    if (is_split(blocks_[index], size)) split(index, size);
    blocks_[index].used = true;
    add(usage_.allocated, usage_.peak_allocated, blocks_[index].size);
    return index;
}

void CachingAllocator::free(int handle) {
    assert(blocks_[handle].used && "a block can be freed only once");
    int index = handle;
    blocks_[index].used = false;
    usage_.allocated -= Bytes{blocks_[index].size};
    if (const int after = blocks_[index].after; after >= 0 && !blocks_[after].used) {
        take_from_pool(after);
        merge_with_next(index);
    }
    if (const int before = blocks_[index].before; before >= 0 && !blocks_[before].used) {
        take_from_pool(before);
        merge_with_next(before);
        index = before;
    }
    put_in_pool(index);
}

}  // namespace debubble::models
