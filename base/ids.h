#pragma once

#include <array>
#include <cassert>
#include <compare>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <type_traits>
#include <utility>
#include <vector>

/// Ids of ranks, stages and microbatches, and the tables that are indexed by them.
namespace debubble {

/// A small integer that cannot be mixed up with another kind of small integer.
/// `Tag` is never defined; it only makes the types differ.
template <class Tag>
struct Id {
    std::int32_t index = 0;
    friend constexpr auto operator<=>(const Id&, const Id&) = default;
};

using Rank = Id<struct RankTag>;    ///< one pipeline rank, 0..p-1; never a global rank
using Stage = Id<struct StageTag>;  ///< one virtual stage of the model, 0..S-1

/// One microbatch of the global batch, or one slice of its sequence (Seq1F1B).
struct MicroBatch {
    std::int32_t index = 0;
    std::optional<std::int16_t> slice;
    friend constexpr auto operator<=>(const MicroBatch&, const MicroBatch&) = default;
};

/// A key of a table: an id, or an enumeration whose values count from 0.
template <class Key>
concept TableKey = std::is_enum_v<Key> || requires(const Key& key) {
    { key.index } -> std::convertible_to<std::int32_t>;
};

/// The position of a key in its table. Precondition: an id is not negative.
template <TableKey Key>
constexpr std::size_t position_of(const Key& key) {
    if constexpr (std::is_enum_v<Key>)
        return static_cast<std::size_t>(key);
    else
        return static_cast<std::size_t>(key.index);
}

/// A vector with one element for each id, from id 0 on. Another kind of id does not compile as its
/// index; a plain number does, for loops over the whole table. A MicroBatch is a key by its index
/// alone: its slices share an element.
template <TableKey Key, class T>
class IndexedBy : public std::vector<T> {
    using Values = std::vector<T>;

public:
    using Values::Values;
    using Values::operator[];
    IndexedBy() = default;
    IndexedBy(Values values) : Values(std::move(values)) {}

    typename Values::reference operator[](const Key& key) { return (*this)[position_of(key)]; }
    typename Values::const_reference operator[](const Key& key) const {
        return (*this)[position_of(key)];
    }
};

/// An array with one element for each value of an enumeration. An aggregate, as std::array is. As
/// its index, a plain number serves loops over the whole table; another enumeration does not
/// compile.
template <TableKey Key, class T, std::size_t N>
struct ArrayBy : std::array<T, N> {
    using Values = std::array<T, N>;
    using Values::operator[];

    constexpr T& operator[](const Key& key) { return (*this)[checked(key)]; }
    constexpr const T& operator[](const Key& key) const { return (*this)[checked(key)]; }

private:
    static constexpr std::size_t checked(const Key& key) {
        assert(position_of(key) < N && "the table has an element for each value");
        return position_of(key);
    }
};

}  // namespace debubble
