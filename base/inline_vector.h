#pragma once

#include <algorithm>
#include <array>
#include <cassert>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <initializer_list>

namespace debubble {

/// At most `Most` values, stored in place: nothing is allocated.
template <class T, std::size_t Most>
class InlineVector {
    static_assert(Most < 256);

public:
    constexpr InlineVector() = default;
    constexpr InlineVector(std::initializer_list<T> values)
        : size_(static_cast<std::uint8_t>(values.size())) {
        assert(values.size() <= Most && "more values than there is room for");
        std::copy(values.begin(), values.end(), values_.begin());
    }

    /// Precondition: !full().
    constexpr void push_back(const T& value) {
        assert(!full() && "more values than there is room for");
        values_[size_++] = value;
    }
    constexpr const T* begin() const { return values_.data(); }
    constexpr const T* end() const { return values_.data() + size_; }
    constexpr std::size_t size() const { return size_; }
    constexpr bool empty() const { return size_ == 0; }
    constexpr bool full() const { return size_ == Most; }
    constexpr const T& front() const { return values_[0]; }

    /// Unused elements are value-initialised, so that whole vectors can be compared.
    friend constexpr auto operator<=>(const InlineVector&, const InlineVector&) = default;

private:
    std::uint8_t size_ = 0;
    std::array<T, Most> values_{};
};

}  // namespace debubble
