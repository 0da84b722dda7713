#include "exec/arena.h"

#include <sys/mman.h>

#include <algorithm>
#include <cassert>
#include <cerrno>
#include <cstring>
#include <map>
#include <new>
#include <set>
#include <thread>
#include <utility>

#include <fmt/format.h>

#include "base/diagnostic.h"
#include "exec/device.h"

#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/asan_interface.h>
#else
#define ASAN_POISON_MEMORY_REGION(begin, size) ((void)(begin), (void)(size))
#define ASAN_UNPOISON_MEMORY_REGION(begin, size) ((void)(begin), (void)(size))
#endif

namespace debubble::exec {

namespace {

constexpr std::int64_t kCacheLine = 64;
constexpr std::int64_t kDeviceLine = 256;  ///< kernels and libraries do best on such addresses
constexpr std::int64_t kGuard = 1 << 16;   ///< poisoned behind the last tensor

std::size_t index_of(MemoryClass held_as) {
    return static_cast<std::size_t>(held_as);
}

}  // namespace

/// The gaps between tensors, none beside another.
struct Arena::FreeList {
    std::map<std::int64_t, std::int64_t> size_at;
    std::set<std::pair<std::int64_t, std::int64_t>> by_size;  ///< size, then address

    void add(std::int64_t at, std::int64_t size) {
        size_at.emplace(at, size);
        by_size.emplace(size, at);
    }
    std::int64_t remove(std::map<std::int64_t, std::int64_t>::iterator gap) {
        const auto [at, size] = *gap;
        by_size.erase({size, at});
        size_at.erase(gap);
        return size;
    }

    /// The address, or -1 if no gap is large enough.
    std::int64_t take(std::int64_t size) {
        const auto gap = by_size.lower_bound({size, 0});
        if (gap == by_size.end()) return -1;
        const std::int64_t at = gap->second;
        const std::int64_t whole = remove(size_at.find(at));
        if (whole > size) add(at + size, whole - size);
        return at;
    }
    void give(std::int64_t at, std::int64_t size) {
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
      held_as_(other.held_as_) {}

ArenaTensor& ArenaTensor::operator=(ArenaTensor&& other) noexcept {
    if (this == &other) return *this;
    if (arena_ != nullptr) arena_->release(*this);
    arena_ = std::exchange(other.arena_, nullptr);
    view_ = std::exchange(other.view_, {});
    held_as_ = other.held_as_;
    return *this;
}

ArenaTensor::~ArenaTensor() {
    if (arena_ != nullptr) arena_->release(*this);
}

Arena::Arena(Bytes capacity, Device* device)
    : device_(device), free_(std::make_unique<FreeList>()) {
    capacity_ = Bytes{padded(capacity.count)};
    free_->add(0, capacity_.count);
    if (device_ != nullptr) {
        base_ = device_->reserve(capacity_);
        poisoned_ = capacity_.count;  // AddressSanitizer has no say there
        return;
    }
    const auto size = static_cast<std::size_t>(capacity_.count);
    void* range = ::mmap(nullptr, size, PROT_READ | PROT_WRITE,
                         MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (range == MAP_FAILED)
        throw WorldError(fmt::format("no addresses for an arena of {:.3g} GiB: {}", gib(capacity_),
                                     std::strerror(errno)));
    base_ = static_cast<std::byte*>(range);
}

/// What a tensor of so many bytes takes; an empty one has an address too.
std::int64_t Arena::padded(std::int64_t bytes) const {
    const std::int64_t line = device_ != nullptr ? kDeviceLine : kCacheLine;
    return std::max(line, (bytes + line - 1) / line * line);
}

Arena::~Arena() {
    assert(total(held_).count == 0 && "tensors do not outlive their arena");
    if (device_ != nullptr) {
        device_->release(base_);
        return;
    }
    ASAN_UNPOISON_MEMORY_REGION(base_, static_cast<std::size_t>(poisoned_));
    ::munmap(base_, static_cast<std::size_t>(capacity_.count));
}

ArenaTensor Arena::allocate(const Shape& shape, DataType type, MemoryClass held_as,
                            std::string_view name) {
    ArenaTensor tensor;
    tensor.view_ = {nullptr, shape, type};
    const std::int64_t bytes = tensor.view_.bytes();
    const std::int64_t at = take(padded(bytes));
    if (at < 0)
        throw WorldError(
            fmt::format("the arena is full: {} ({}) needs {} bytes, {} of {} are held and the "
                        "largest gap has {}",
                        name, during_.empty() ? "before the first action" : during_, bytes,
                        total(held_).count, capacity_.count, free_->largest()));
    tensor.arena_ = this;
    tensor.view_.data = base_ + at;
    tensor.held_as_ = held_as;
    poison_up_to(at + padded(bytes) + kGuard);
    if (device_ == nullptr)
        ASAN_UNPOISON_MEMORY_REGION(tensor.view_.data, static_cast<std::size_t>(bytes));

    extent_ = std::max(extent_, Bytes{at + padded(bytes)});
    Bytes& held = held_[index_of(held_as)];
    held += Bytes{bytes};
    Bytes& highest = highest_[index_of(held_as)];
    highest = std::max(highest, held);
    if (total(held_) > total(peak_.held))
        peak_ = {held_, during_, std::string(name), std::chrono::steady_clock::now()};
    return tensor;
}

/// The address, or -1 if it is full. What is lent is waited for only if nothing else is left, and
/// as long as some of it comes back.
std::int64_t Arena::take(std::int64_t size) {
    using Clock = std::chrono::steady_clock;
    take_back_what_is_over();
    std::int64_t at = free_->take(size);
    Clock::time_point moved = Clock::now();
    while (at < 0 && !lent_.empty() && Clock::now() - moved < patience_) {
        std::this_thread::sleep_for(std::chrono::microseconds(20));
        const std::size_t before = lent_.size();
        take_back_what_is_over();
        if (lent_.size() < before) moved = Clock::now();
        at = free_->take(size);
    }
    return at;
}

void Arena::lend(ArenaTensor tensor, std::function<bool()> is_over) {
    assert(tensor.arena_ == this && "a tensor of this arena");
    const std::int64_t bytes = tensor.view_.bytes();
    held_[index_of(tensor.held_as_)] -= Bytes{bytes};
    lent_.push_back({tensor.view_.data - base_, padded(bytes), std::move(is_over)});
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
    assert(lent_.empty() && "nobody uses what was lent");
}

/// AddressSanitizer's notes on untouched addresses would take memory for all of them.
void Arena::poison_up_to(std::int64_t end) {
    end = std::min(end, capacity_.count);
    if (end <= poisoned_) return;
    ASAN_POISON_MEMORY_REGION(base_ + poisoned_, static_cast<std::size_t>(end - poisoned_));
    poisoned_ = end;
}

void Arena::note(std::string_view action) {
    during_ = action;
    highest_ = held_;
}

void Arena::forget_peak() {
    peak_ = {held_, during_, "", std::chrono::steady_clock::now()};
}

std::shared_ptr<std::byte> Arena::beside(Bytes size) const {
    size.count = std::max<std::int64_t>(size.count, 1);
    if (device_ != nullptr)
        return {device_->reserve_host(size),
                [device = device_](std::byte* memory) { device->release_host(memory); }};
    constexpr std::align_val_t kLine{kCacheLine};
    return {static_cast<std::byte*>(::operator new(static_cast<std::size_t>(size.count), kLine)),
            [](std::byte* memory) { ::operator delete(memory, kLine); }};
}

void Arena::release(const ArenaTensor& tensor) {
    const std::int64_t size = padded(tensor.view_.bytes());
    held_[index_of(tensor.held_as_)] -= Bytes{tensor.view_.bytes()};
    if (device_ == nullptr)
        ASAN_POISON_MEMORY_REGION(tensor.view_.data, static_cast<std::size_t>(size));
    free_->give(tensor.view_.data - base_, size);
}

}  // namespace debubble::exec
