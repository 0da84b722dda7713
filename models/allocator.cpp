#include "models/allocator.h"

#include <algorithm>
#include <cassert>
#include <utility>

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

int CachingAllocator::new_block(Block block) {
    if (unused_.empty()) {
        blocks_.push_back(block);
        return static_cast<int>(blocks_.size()) - 1;
    }
    const int index = unused_.back();
    unused_.pop_back();
    blocks_[index] = block;
    return index;
}

int CachingAllocator::new_segment(std::int64_t size, bool small) {
    const int index = new_block({size, next_address_, -1, -1, small, false});
    next_address_ += size;
    add(usage_.reserved, usage_.peak_reserved, size);
    return index;
}

void CachingAllocator::split(int index, std::int64_t size) {
    const Block whole = blocks_[index];
    const int rest = new_block(
        {whole.size - size, whole.address + size, index, whole.after, whole.small, false});
    if (whole.after >= 0) blocks_[whole.after].before = rest;
    blocks_[index].size = size;
    blocks_[index].after = rest;
    put(pool_of(whole), {whole.size - size, whole.address + size, rest});
}

void CachingAllocator::put(Pool& pool, const FreeBlock& block) {
    if (spare_.empty()) {
        pool.insert(block);
        return;
    }
    spare_.back().value() = block;
    pool.insert(std::move(spare_.back()));
    spare_.pop_back();
}

int CachingAllocator::take(Pool& pool, Pool::const_iterator at) {
    const int index = std::get<2>(*at);
    spare_.push_back(pool.extract(at));
    return index;
}

void CachingAllocator::merge_with_next(int index) {
    Block& block = blocks_[index];
    const int next = block.after;
    block.size += blocks_[next].size;
    block.after = blocks_[next].after;
    if (block.after >= 0) blocks_[block.after].before = index;
    unused_.push_back(next);
}

int CachingAllocator::allocate(Bytes asked) {
    assert(asked.count >= 0 && "a tensor cannot have a negative size");
    const std::int64_t size = std::max(kGranule, round_up(asked.count, kGranule));
    const bool small = size <= kLargestSmall;
    Pool& pool = small ? small_ : large_;
    int index = 0;
    const auto fit = pool.lower_bound({size, 0, 0});
    if (fit != pool.end()) {
        index = take(pool, fit);
    } else {
        index = new_segment(segment_size(size), small);
    }
    const std::int64_t remaining = blocks_[index].size - size;
    if (small ? remaining >= kGranule : remaining > kLargestSmall) split(index, size);
    blocks_[index].used = true;
    add(usage_.allocated, usage_.peak_allocated, blocks_[index].size);
    return index;
}

void CachingAllocator::free(int handle) {
    assert(blocks_[handle].used && "a block can only be freed once");
    int index = handle;
    blocks_[index].used = false;
    usage_.allocated -= Bytes{blocks_[index].size};
    const auto take_out = [&](int neighbour) {
        const Block& block = blocks_[neighbour];
        Pool& pool = pool_of(block);
        take(pool, pool.find({block.size, block.address, neighbour}));
    };
    if (const int after = blocks_[index].after; after >= 0 && !blocks_[after].used) {
        take_out(after);
        merge_with_next(index);
    }
    if (const int before = blocks_[index].before; before >= 0 && !blocks_[before].used) {
        take_out(before);
        merge_with_next(before);
        index = before;
    }
    const Block& block = blocks_[index];
    put(pool_of(block), {block.size, block.address, index});
}

}  // namespace debubble::models
