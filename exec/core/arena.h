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
#include "base/memory_class.h"
#include "exec/core/tensor.h"

/// The memory of one rank: a range of addresses, from which every tensor of a step is cut
/// and to which it returns when the plan says so.
namespace debubble::exec {

class Arena;
class Device;

/// A tensor inside an arena, which gets its bytes back when this ends.
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
};

/// What a rank held when it held most.
struct ArenaPeak {
    MemoryByClass held{};
    std::string during;  ///< what note() said last: the action, in text form
    std::string op;      ///< the tensor that was allocated last
    std::chrono::steady_clock::time_point at;
};

/// One thread uses an arena at a time. Tensors must not outlive it.
class Arena {
public:
    /// Of the process's memory: reserves addresses, a page is had once it is touched; or of a
    /// device's, which is had at once and must outlive this. Throws WorldError if there is not
    /// so much. Of the process's memory only `at_first` is reserved, and more once that is full.
    explicit Arena(Bytes capacity, Device* device = nullptr, std::optional<Bytes> at_first = {});
    ~Arena();
    Arena(const Arena&) = delete;
    Arena& operator=(const Arena&) = delete;

    /// Uninitialised. Best fit, lowest address first; neighbours merge when freed; every
    /// tensor begins on a cache line, of a device on a multiple of 256 bytes. Throws WorldError,
    /// naming the numbers, when full.
    ArenaTensor allocate(const Shape& shape, DataType type, MemoryClass held_as,
                         std::string_view name);

    Device* device() const { return device_; }  ///< nullptr: the process's memory

    /// Memory of the host that is no part of the range, and that the arena's device reaches too:
    /// for what is offloaded and still computed with. Outlives neither. Not set to anything.
    std::shared_ptr<std::byte> beside(Bytes size) const;

    /// The rank gives the tensor up while its device still uses it: from now on it counts as freed,
    /// and its bytes come back once `is_over` says so, for which an arena that is full waits.
    void lend(ArenaTensor tensor, std::function<bool()> is_over);
    /// Everything that was lent is over.
    void take_back();
    void set_patience(std::chrono::nanoseconds patience) { patience_ = patience; }

    /// An action begins: peaks are named after it.
    void note(std::string_view action);
    const MemoryByClass& held() const { return held_; }  ///< bytes of tensors, without padding
    /// Of each class the most since note(), at instants of its own.
    const MemoryByClass& highest() const { return highest_; }
    const ArenaPeak& peak() const { return peak_; }
    void forget_peak();  ///< the peak is what is held now
    /// The highest address ever used, from the arena's begin: peak and fragmentation.
    Bytes extent() const { return extent_; }
    Bytes reserved() const;  ///< addresses, or a device's memory

private:
    friend class ArenaTensor;
    struct FreeList;
    /// Addresses that were reserved at once; tensors do not reach over its ends.
    struct Range {
        std::byte* base = nullptr;
        std::int64_t size = 0;
        std::int64_t poisoned = 0;  ///< from its begin
    };
    struct Lent {
        std::byte* at = nullptr;
        std::int64_t size = 0;
        std::function<bool()> is_over;
    };
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
    std::vector<Range> ranges_;
    Bytes capacity_;
    std::unique_ptr<FreeList> free_;
    std::deque<Lent> lent_;
    std::chrono::nanoseconds patience_ = std::chrono::minutes(5);
    MemoryByClass held_{};
    MemoryByClass highest_{};
    ArenaPeak peak_;
    Bytes extent_;
    std::string during_;
};

}  // namespace debubble::exec
