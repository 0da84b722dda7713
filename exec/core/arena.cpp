#include "exec/core/arena.h"

#include <sys/mman.h>

#include <algorithm>
#include <cassert>
#include <cerrno>
#include <cstring>
#include <functional>
#include <map>
#include <new>
#include <set>
#include <thread>
#include <utility>

#include <fmt/format.h>

#include "base/check.h"
#include "exec/core/device.h"

#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/asan_interface.h>
#else
#define ASAN_POISON_MEMORY_REGION(begin, size) ((void)(begin), (void)(size))
#define ASAN_UNPOISON_MEMORY_REGION(begin, size) ((void)(begin), (void)(size))
#endif

namespace debubble::exec {

namespace {

constexpr std::int64_t kCacheLine = 64;
constexpr std::int64_t kDeviceLine = 256;  ///< kernels and libraries work best on such addresses
constexpr std::int64_t kGuard = 1 << 16;   ///< bytes poisoned after the last tensor
constexpr std::int64_t kLeastMore = std::int64_t{16} << 20;  ///< bytes reserved at a time

}  // namespace

/// The gaps between tensors; no two of them are neighbours.
struct Arena::FreeList {
    std::map<std::byte*, std::int64_t> size_at;
    std::set<std::pair<std::int64_t, std::byte*>> by_size;  ///< size, then address

    void add(std::byte* at, std::int64_t size) {
        size_at.emplace(at, size);
        by_size.emplace(size, at);
    }
    std::int64_t remove(std::map<std::byte*, std::int64_t>::iterator gap) {
        const auto [at, size] = *gap;
        by_size.erase({size, at});
        size_at.erase(gap);
        return size;
    }

    /// Takes memory from a gap; nullptr if no gap is large enough.
    std::byte* take(std::int64_t size) {
        const auto gap = by_size.lower_bound({size, nullptr});
        if (gap == by_size.end()) return nullptr;
        std::byte* const at = gap->second;
        const std::int64_t whole = remove(size_at.find(at));
        if (whole > size) add(at + size, whole - size);
        return at;
    }
    void give(std::byte* at, std::int64_t size) {
        auto after = size_at.lower_bound(at);
        if (after != size_at.begin()) {
            const auto before = std::prev(after);
            if (before->first + before->second == at) {
                at = before->first;
                size += remove(before);
            }
        }
        after = size_at.lower_bound(at + size);
        if (after != size_at.end() && after->first == at + size) size += remove(after);
        add(at, size);
    }
    std::int64_t largest() const { return by_size.empty() ? 0 : by_size.rbegin()->first; }
};

ArenaTensor::ArenaTensor(ArenaTensor&& other) noexcept
    : arena_(std::exchange(other.arena_, nullptr)),
      view_(std::exchange(other.view_, {})),
      held_as_(other.held_as_),
      if_even_(other.if_even_) {}

ArenaTensor& ArenaTensor::operator=(ArenaTensor&& other) noexcept {
    if (this == &other) return *this;
    if (arena_ != nullptr) arena_->release(*this);
    arena_ = std::exchange(other.arena_, nullptr);
    view_ = std::exchange(other.view_, {});
    held_as_ = other.held_as_;
    if_even_ = other.if_even_;
    return *this;
}

ArenaTensor::~ArenaTensor() {
    if (arena_ != nullptr) arena_->release(*this);
}

Arena::Arena(Bytes capacity, Device* device, std::optional<Bytes> at_first)
    : device_(device), free_(std::make_unique<FreeList>()) {
    if (device_ != nullptr) {
        reserve_on_device({capacity, nullptr});
        return;
    }
    capacity_ = Bytes{padded(capacity.count)};
    const Bytes first = at_first ? std::min(*at_first, capacity_) : capacity_;
    if (!reserve(padded(first.count))) throw no_addresses(first.count);
}

Arena::Arena(Device& device, std::function<ArenaRange()> range)
    : device_(&device), late_(std::move(range)), free_(std::make_unique<FreeList>()) {}

/// AddressSanitizer does not watch a device's memory.
void Arena::reserve_on_device(const ArenaRange& range) {
    capacity_ = Bytes{padded(range.capacity.count)};
    DeviceMemory& source = range.from ? *range.from : *device_;
    ranges_.push_back({source.reserve(capacity_), capacity_.count, capacity_.count});
    from_ = range.from;
    free_->add(ranges_.front().base, capacity_.count);
}

/// Reserves one line more than `size`, which separates the range from its neighbour. Returns false
/// if the system has no such addresses; errno says why.
bool Arena::reserve(std::int64_t size) {
    void* range = ::mmap(nullptr, size + kCacheLine, PROT_READ | PROT_WRITE,
                         MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (range == MAP_FAILED) return false;
    ranges_.push_back({static_cast<std::byte*>(range), size, 0});
    free_->give(ranges_.back().base, size);
    return true;
}

WorldError Arena::no_addresses(std::int64_t size) const {
    const std::string why = std::strerror(errno);
    const std::string addition =
        ranges_.empty() ? "" : fmt::format(" in addition to its {:.3g} GiB", gib(reserved()));
    return WorldError(fmt::format("no address space for an arena of {:.3g} GiB{}: {}",
                                  gib(Bytes{size}), addition, why));
}

/// Reserves at least an eighth of what is reserved, so that ranges stay few. Returns false if no
/// more may be reserved.
bool Arena::reserve_more(std::int64_t size) {
    const std::int64_t most = capacity_.count - reserved().count;
    if (device_ != nullptr || size > most) return false;
    const std::int64_t usual = std::max(padded(reserved().count / 8), kLeastMore);
    if (usual > size && reserve(std::min(usual, most))) return true;
    if (!reserve(size)) throw no_addresses(size);
    return true;
}

Bytes Arena::reserved() const {
    Bytes sum;
    for (const Range& range : ranges_) sum.count += range.size;
    return sum;
}

/// The bytes that a tensor of `bytes` bytes takes; an empty one has an address too.
std::int64_t Arena::padded(std::int64_t bytes) const {
    const std::int64_t line = device_ != nullptr ? kDeviceLine : kCacheLine;
    return std::max(line, (bytes + line - 1) / line * line);
}

Arena::~Arena() {
    assert(total(held_).count == 0 && "tensors do not outlive their arena");
    if (device_ != nullptr) {
        DeviceMemory& source = from_ ? *from_ : *device_;
        for (const Range& range : ranges_) source.release(range.base);
        return;
    }
    for (const Range& range : ranges_) {
        ASAN_UNPOISON_MEMORY_REGION(range.base, range.poisoned);
        ::munmap(range.base, range.size + kCacheLine);
    }
}

ArenaTensor Arena::allocate(const Shape& shape, DataType type, MemoryClass held_as,
                            std::string_view name, Bytes if_even) {
    if (late_) reserve_on_device(std::exchange(late_, nullptr)());
    ArenaTensor tensor;
    tensor.view_ = {nullptr, shape, type};
    const std::int64_t bytes = tensor.view_.bytes();
    std::byte* const at = take(padded(bytes));
    if (at == nullptr)
        throw WorldError(
            fmt::format("the arena is full: {} ({}) needs {} bytes, {} of {} are in use and the "
                        "largest gap has {}",
                        name, during_.empty() ? "before the first action" : during_, bytes,
                        total(held_).count, capacity_.count, free_->largest()));
    tensor.arena_ = this;
    tensor.view_.data = at;
    tensor.held_as_ = held_as;
    tensor.if_even_ = if_even;
    used_up_to(at + padded(bytes));
    if (device_ == nullptr) ASAN_UNPOISON_MEMORY_REGION(tensor.view_.data, bytes);

    Bytes& held = held_[held_as];
    held += Bytes{bytes};
    Bytes& highest = highest_[held_as];
    highest = std::max(highest, held);
    if (if_even.count > 0) {
        routed_ += Bytes{bytes};
        if_even_ += if_even;
    }
    if (total(held_) > total(peak_.held)) {
        const double routed = if_even_.count == 0 ? 1
                                                  : static_cast<double>(routed_.count) /
                                                        static_cast<double>(if_even_.count);
        peak_ = {held_, during_, std::string(name), routed, std::chrono::steady_clock::now()};
    }
    return tensor;
}

/// Takes memory from the gaps; nullptr if the arena is full.
std::byte* Arena::take_free(std::int64_t size) {
    std::byte* const at = free_->take(size);
    return at == nullptr && reserve_more(size) ? free_->take(size) : at;
}

/// Takes memory; nullptr if the arena is full. It waits for lent memory only if nothing else is
/// left, and as long as some of it is returned.
std::byte* Arena::take(std::int64_t size) {
    using Clock = std::chrono::steady_clock;
    take_back_what_is_over();
    std::byte* at = take_free(size);
    Clock::time_point moved = Clock::now();
    while (at == nullptr && !lent_.empty() && Clock::now() - moved < patience_) {
        std::this_thread::sleep_for(std::chrono::microseconds(20));
        const std::size_t before = lent_.size();
        take_back_what_is_over();
        if (lent_.size() < before) moved = Clock::now();
        at = free_->take(size);
    }
    return at;
}

void Arena::lend(ArenaTensor tensor, std::function<bool()> is_over) {
    DEBUBBLE_CHECK(tensor.arena_ == this, "a tensor of this arena");
    count_out(tensor);
    lent_.push_back({tensor.view_.data, padded(tensor.view_.bytes()), std::move(is_over)});
    tensor.arena_ = nullptr;
}

void Arena::take_back_what_is_over() {
    std::erase_if(lent_, [&](const Lent& lent) {
        if (!lent.is_over()) return false;
        free_->give(lent.at, lent.size);
        return true;
    });
}

void Arena::take_back() {
    take_back_what_is_over();
    DEBUBBLE_CHECK(lent_.empty(), "lent memory is used no longer than the arena");
}

/// AddressSanitizer's records of untouched addresses would take memory for all of them.
void Arena::used_up_to(std::byte* end) {
    Bytes before;  // ranges follow each other in the order in which they were reserved
    for (Range& range : ranges_) {
        if (std::less<>{}(range.base, end) && !std::less<>{}(range.base + range.size, end)) {
            const std::int64_t used = end - range.base;
            extent_ = std::max(extent_, before + Bytes{used});
            const std::int64_t poisoned = std::min(used + kGuard, range.size);
            if (poisoned <= range.poisoned) return;
            ASAN_POISON_MEMORY_REGION(range.base + range.poisoned, poisoned - range.poisoned);
            range.poisoned = poisoned;
            return;
        }
        before.count += range.size;
    }
}

void Arena::note(std::string_view action) {
    during_ = action;
    highest_ = held_;
}

void Arena::forget_peak() {
    peak_ = {held_, during_, "", 1, std::chrono::steady_clock::now()};
}

std::shared_ptr<std::byte> Arena::allocate_outside(Bytes size) const {
    size.count = std::max<std::int64_t>(size.count, 1);
    if (device_ != nullptr)
        return {device_->reserve_host(size),
                [device = device_](std::byte* memory) { device->release_host(memory); }};
    constexpr std::align_val_t kLine{kCacheLine};
    return {static_cast<std::byte*>(::operator new(size.count, kLine)),
            [](std::byte* memory) { ::operator delete(memory, kLine); }};
}

void Arena::count_out(const ArenaTensor& tensor) {
    held_[tensor.held_as_] -= Bytes{tensor.view_.bytes()};
    if (tensor.if_even_.count == 0) return;
    routed_ -= Bytes{tensor.view_.bytes()};
    if_even_ -= tensor.if_even_;
}

void Arena::release(const ArenaTensor& tensor) {
    const std::int64_t size = padded(tensor.view_.bytes());
    count_out(tensor);
    if (device_ == nullptr) ASAN_POISON_MEMORY_REGION(tensor.view_.data, size);
    free_->give(tensor.view_.data, size);
}

}  // namespace debubble::exec
