#include "models/memory/allocator.h"

#include <algorithm>
#include <cassert>
#include <iterator>

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

/// The place of a value in a sorted row.
template <class Row, class Value>
auto place_in(Row& row, const Value& value) {
    return std::lower_bound(row.begin(), row.end(), value);
}

/// Puts a value in the place of one of a sorted row, and moves it to where it belongs.
template <class Row, class Value>
void replace(Row& row, typename Row::iterator at, const Value& value) {
    if (value < *at) {
        const auto to = std::lower_bound(row.begin(), at, value);
        std::move_backward(to, at, std::next(at));
        *to = value;
    } else {
        const auto to = std::lower_bound(std::next(at), row.end(), value);
        std::move(std::next(at), to, at);
        *std::prev(to) = value;
    }
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

/// The last block of the pool's segment, made as large as asked for by pages after it.
int CachingAllocator::grown_segment(std::int64_t size, bool small) {
    int& last = last_[small ? 1 : 0];
    const bool free = last >= 0 && !blocks_[last].used;
    const std::int64_t there = free ? blocks_[last].size : 0;
    const std::int64_t more = round_up(size - there, page_size(small));
    add(usage_.reserved, usage_.peak_reserved, more);
    if (free) {
        Pool& pool = small ? small_ : large_;
        pool.erase(place_in(pool, free_block(last)));
        blocks_[last].size += more;
        return last;
    }
    const std::int64_t address = last < 0 ? 0 : blocks_[last].address + blocks_[last].size;
    const int index = new_block({more, address, last, -1, small, false});
    if (last >= 0) blocks_[last].after = index;
    last = index;
    return index;
}

CachingAllocator::Pool::iterator CachingAllocator::best_fit(Pool& pool, std::int64_t size) const {
    const auto fit = place_in(pool, FreeBlock{size, 0, 0});
    if (segments_ == Segments::Fixed || fit == pool.end()) return fit;
    const bool can_grow = blocks_[fit->block].after < 0;
    return can_grow && std::next(fit) != pool.end() ? std::next(fit) : fit;
}

bool CachingAllocator::is_split(const Block& block, std::int64_t size) const {
    const std::int64_t remaining = block.size - size;
    if (block.small || segments_ == Segments::Expandable) return remaining >= kGranule;
    return remaining > kLargestSmall;
}

/// Cuts what is asked for off a block; the rest is free.
CachingAllocator::FreeBlock CachingAllocator::split(int index, std::int64_t size) {
    const Block whole = blocks_[index];
    const int rest = new_block(
        {whole.size - size, whole.address + size, index, whole.after, whole.small, false});
    if (whole.after >= 0) blocks_[whole.after].before = rest;
    blocks_[index].size = size;
    blocks_[index].after = rest;
    if (last_[whole.small ? 1 : 0] == index) last_[whole.small ? 1 : 0] = rest;
    return free_block(rest);
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
    const auto fit = best_fit(pool, size);
    const bool found = fit != pool.end();
    int index = 0;
    if (found)
        index = fit->block;
    else if (segments_ == Segments::Fixed)
        index = new_segment(segment_size(size), small);
    else
        index = grown_segment(size, small);
    if (is_split(blocks_[index], size)) {
        const FreeBlock rest = split(index, size);
        if (found)
            replace(pool, fit, rest);
        else
            pool.insert(place_in(pool, rest), rest);
    } else if (found) {
        pool.erase(fit);
    }
    blocks_[index].used = true;
    add(usage_.allocated, usage_.peak_allocated, blocks_[index].size);
    return index;
}

void CachingAllocator::free(int handle) {
    assert(blocks_[handle].used && "a block can be freed only once");
    int index = handle;
    blocks_[index].used = false;
    usage_.allocated -= Bytes{blocks_[index].size};
    Pool& pool = pool_of(blocks_[index]);
    const auto place_of = [&](int neighbour) { return place_in(pool, free_block(neighbour)); };
    std::optional<Pool::iterator> merged;  // the place of a block that is part of a larger one now
    if (const int after = blocks_[index].after; after >= 0 && !blocks_[after].used) {
        merged = place_of(after);
        merge_with_next(index);
    }
    if (const int before = blocks_[index].before; before >= 0 && !blocks_[before].used) {
        const auto place = place_of(before);
        if (merged) {
            // The later of the two goes first, so that the other stays where it is.
            pool.erase(std::max(*merged, place));
            merged = std::min(*merged, place);
        } else {
            merged = place;
        }
        merge_with_next(before);
        index = before;
    }
    const FreeBlock block = free_block(index);
    if (merged)
        replace(pool, *merged, block);
    else
        pool.insert(place_in(pool, block), block);
}

void CachingAllocator::free_all(std::span<const int> handles) {
    std::vector<int> free;
    for (const Pool* pool : {&small_, &large_})
        for (const FreeBlock& block : *pool) free.push_back(block.block);
    for (const int handle : handles) {
        assert(blocks_[handle].used && "a block can only be freed once");
        blocks_[handle].used = false;
        usage_.allocated -= Bytes{blocks_[handle].size};
        free.push_back(handle);
    }
    small_.clear();
    large_.clear();
    std::vector<bool> placed(blocks_.size());
    for (int index : free) {
        if (placed[index]) continue;
        const auto is_free = [&](int neighbour) {
            return neighbour >= 0 && !blocks_[neighbour].used;
        };
        while (is_free(blocks_[index].before)) index = blocks_[index].before;
        placed[index] = true;
        while (is_free(blocks_[index].after)) {
            placed[blocks_[index].after] = true;
            merge_with_next(index);
        }
        pool_of(blocks_[index]).push_back(free_block(index));
    }
    std::sort(small_.begin(), small_.end());
    std::sort(large_.begin(), large_.end());
}

}  // namespace debubble::models
