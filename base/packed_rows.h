#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <type_traits>
#include <vector>

#include "base/ids.h"

namespace debubble {

/// Any number of values for each key in one block of memory, such as the edges of a graph by their
/// node: the compressed sparse row format. All are added first, in any order of keys, then packed,
/// then read.
template <class Key, class Value>
class PackedRows {
public:
    void reserve(std::size_t values) { added_.reserve(values); }
    void add(Key key, Value value) { added_.push_back({key, value}); }

    /// Precondition: every key is less than `keys`. The values of a key keep the order in which
    /// they were added.
    void pack(std::size_t keys) {
        begin_.assign(keys + 1, 0);
        for (const Added& one : added_) ++begin_[place_of(one.key) + 1];
        for (std::size_t i = 0; i < keys; ++i) begin_[i + 1] += begin_[i];
        values_.resize(added_.size());
        std::vector<std::int32_t> next(begin_.begin(), begin_.end() - 1);
        for (const Added& one : added_) values_[next[place_of(one.key)]++] = one.value;
        added_ = std::vector<Added>();  // {} would keep its memory
    }

    std::span<const Value> of(Key key) const {
        const std::size_t at = place_of(key);
        return {values_.data() + begin_[at], values_.data() + begin_[at + 1]};
    }

private:
    struct Added {
        Key key;
        Value value;
    };
    static std::size_t place_of(Key key) {
        if constexpr (std::is_integral_v<Key>)
            return static_cast<std::size_t>(key);
        else
            return position_of(key);
    }

    std::vector<Added> added_;
    std::vector<std::int32_t> begin_;  ///< of each key's values, and the end of the last one's
    std::vector<Value> values_;
};

}  // namespace debubble
