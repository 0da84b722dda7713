#pragma once

#include <chrono>
#include <cstddef>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/diagnostic.h"
#include "base/purposes.h"
#include "exec/core/tensor.h"

/// The memory of one rank: a range of addresses from which every tensor of a step is allocated, and
/// to which it returns when the graph frees it.
namespace debubble::exec {

class Arena;
class Device;
class DeviceMemory;

/// The range that an arena on a device reserves at its first tensor.
struct ArenaRange {
    Bytes capacity;
    std::shared_ptr<DeviceMemory> from;  ///< nullptr: the device itself
};

/// A tensor inside an arena. Its bytes return to the arena when this object ends.
class ArenaTensor {
public:
    ArenaTensor() = default;
    ArenaTensor(ArenaTensor&& other) noexcept;
    ArenaTensor& operator=(ArenaTensor&& other) noexcept;
    ~ArenaTensor();

    explicit operator bool() const { return arena_ != nullptr; }
    const TensorView& view() const { return view_; }

private:
    friend class Arena;
    Arena* arena_ = nullptr;
    TensorView view_;
    MemoryClass held_as_{};
    Bytes if_even_;  ///< for routed tokens, its bytes if routers were balanced; else 0
};

/// The memory of a rank at the moment when it held most.
struct ArenaPeak {
    MemoryByClass held{};
    std::string during;  ///< the text of the last note(): the action, in text form
    std::string op;      ///< the tensor that was allocated last
    double routed = 1;   ///< routed tokens held, relative to the number under balanced routing
    std::chrono::steady_clock::time_point at;
};

/// The arena of a rank. One thread uses it at a time. Tensors must not outlive it.
class Arena {
public:
    /// An arena in the process's memory, which reserves addresses and gets a page once it is
    /// touched; or in a device's memory, which is allocated at once and must outlive the arena.
    /// Throws WorldError if there is not enough. In the process's memory only `at_first` is
    /// reserved, and more once that is full.
    explicit Arena(Bytes capacity, Device* device = nullptr, std::optional<Bytes> at_first = {});
    /// An arena in a device's memory that reserves its range only at its first tensor: other users
    /// of the device's memory may come first.
    Arena(Device& device, std::function<ArenaRange()> range);
    ~Arena();
    Arena(const Arena&) = delete;
    Arena& operator=(const Arena&) = delete;

    /// Allocates an uninitialised tensor. Best fit, lowest address first; neighbours merge when
    /// freed. Every tensor starts on a cache line, or on a device at a multiple of 256 bytes.
    /// Throws WorldError with the numbers when the arena is full. A tensor of routed tokens also
    /// gives its bytes under balanced routing.
    ArenaTensor allocate(const Shape& shape, DataType type, MemoryClass held_as,
                         std::string_view name, Bytes if_even = {});

    Device* device() const { return device_; }  ///< nullptr means the process's memory

    /// Memory of the host outside the range, which the arena's device reaches too: for tensors that
    /// are offloaded and still computed with. It must not outlive the arena or the device. Its
    /// bytes are not initialised.
    std::shared_ptr<std::byte> allocate_outside(Bytes size) const;

    /// The rank gives the tensor up while its device still uses it: the tensor counts as freed from
    /// this call on, and its bytes come back once `is_over` says so. A full arena waits for that.
    void lend(ArenaTensor tensor, std::function<bool()> is_over);
    /// Takes back everything that was lent. Precondition: nothing uses it any more.
    void take_back();
    void set_patience(std::chrono::nanoseconds patience) { patience_ = patience; }

    /// Names the action that starts: peaks are named after it.
    void note(std::string_view action);
    const MemoryByClass& held() const { return held_; }  ///< bytes of tensors, without padding
    /// The most of each class since note(); the classes may peak at different instants.
    const MemoryByClass& highest() const { return highest_; }
    const ArenaPeak& peak() const { return peak_; }
    void forget_peak();  ///< the memory held at this call becomes the peak
    /// The highest address ever used, counted from the arena's start: peak and fragmentation.
    Bytes extent() const { return extent_; }
    Bytes reserved() const;  ///< addresses, or a device's memory

private:
    friend class ArenaTensor;
    struct FreeList;
    /// Addresses that were reserved at once; no tensor crosses its ends.
    struct Range {
        std::byte* base = nullptr;
        std::int64_t size = 0;
        std::int64_t poisoned = 0;  ///< bytes poisoned, from its start
    };
    struct Lent {
        std::byte* at = nullptr;
        std::int64_t size = 0;
        std::function<bool()> is_over;
    };
    void reserve_on_device(const ArenaRange& range);
    void count_out(const ArenaTensor& tensor);
    void release(const ArenaTensor& tensor);
    std::byte* take(std::int64_t size);
    std::byte* take_free(std::int64_t size);
    bool reserve_more(std::int64_t size);
    bool reserve(std::int64_t size);
    WorldError no_addresses(std::int64_t size) const;
    void take_back_what_is_over();
    std::int64_t padded(std::int64_t bytes) const;
    void used_up_to(std::byte* end);

    Device* device_;
    std::function<ArenaRange()> late_;    ///< empty once it was asked
    std::shared_ptr<DeviceMemory> from_;  ///< source of a device's range, if not the device
    std::vector<Range> ranges_;
    Bytes capacity_;
    std::unique_ptr<FreeList> free_;
    std::deque<Lent> lent_;
    std::chrono::nanoseconds patience_ = std::chrono::minutes(5);
    MemoryByClass held_{};
    MemoryByClass highest_{};
    Bytes routed_;   ///< bytes of `held_` that routers decided
    Bytes if_even_;  ///< the same if routers were even
    ArenaPeak peak_;
    Bytes extent_;
    std::string during_;
};

}  // namespace debubble::exec
