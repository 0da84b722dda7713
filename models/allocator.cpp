#include "models/allocator.h"

#include <algorithm>
#include <cassert>
#include <iterator>
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

/// What a segment that grows gets at a time.
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

/// The last block of the pool's segment, made as large as asked for by pages behind it.
int CachingAllocator::grown_segment(std::int64_t size, bool small) {
    int& last = last_[small ? 1 : 0];
    const bool free = last >= 0 && !blocks_[last].used;
    const std::int64_t there = free ? blocks_[last].size : 0;
    const std::int64_t more = round_up(size - there, page_size(small));
    add(usage_.reserved, usage_.peak_reserved, more);
    if (free) {
        Pool& pool = small ? small_ : large_;
        take(pool, pool.find({there, blocks_[last].address, last}));
        blocks_[last].size += more;
        return last;
    }
    const std::int64_t address = last < 0 ? 0 : blocks_[last].address + blocks_[last].size;
    const int index = new_block({more, address, last, -1, small, false});
    if (last >= 0) blocks_[last].after = index;
    last = index;
    return index;
}

CachingAllocator::Pool::const_iterator CachingAllocator::best_fit(const Pool& pool,
                                                                  std::int64_t size) const {
    const auto fit = pool.lower_bound({size, 0, 0});
    if (segments_ == Segments::Fixed || fit == pool.end()) return fit;
    const int index = std::get<2>(*fit);
    const bool can_grow = blocks_[index].after < 0;
    return can_grow && std::next(fit) != pool.end() ? std::next(fit) : fit;
}

bool CachingAllocator::is_split(const Block& block, std::int64_t size) const {
    const std::int64_t remaining = block.size - size;
    if (block.small || segments_ == Segments::Expandable) return remaining >= kGranule;
    return remaining > kLargestSmall;
}

void CachingAllocator::split(int index, std::int64_t size) {
    const Block whole = blocks_[index];
    const int rest = new_block(
        {whole.size - size, whole.address + size, index, whole.after, whole.small, false});
    if (whole.after >= 0) blocks_[whole.after].before = rest;
    blocks_[index].size = size;
    blocks_[index].after = rest;
    if (last_[whole.small ? 1 : 0] == index) last_[whole.small ? 1 : 0] = rest;
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
    if (last_[block.small ? 1 : 0] == next) last_[block.small ? 1 : 0] = index;
    unused_.push_back(next);
}

int CachingAllocator::allocate(Bytes asked) {
    assert(asked.count >= 0 && "a tensor cannot have a negative size");
    const std::int64_t size = std::max(kGranule, round_up(asked.count, kGranule));
    const bool small = size <= kLargestSmall;
    Pool& pool = small ? small_ : large_;
    int index = 0;
    if (const auto fit = best_fit(pool, size); fit != pool.end())
        index = take(pool, fit);
    else if (segments_ == Segments::Fixed)
        index = new_segment(segment_size(size), small);
    else
        index = grown_segment(size, small);
    if (is_split(blocks_[index], size)) split(index, size);
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
