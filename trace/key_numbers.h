#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace debubble {

/// Numbers keys from 0 in the order in which they are first seen: a hash table with open
/// addressing, at most half full, without removal.
class KeyNumbers {
public:
    struct Key {
        std::uint64_t high = 0;
        std::uint64_t low = 0;
        friend bool operator==(const Key&, const Key&) = default;
    };

    /// Reserves space for that many keys.
    void reserve(std::size_t keys);
    std::uint32_t number_or_add(const Key& key);
    std::optional<std::uint32_t> number(const Key& key) const;
    const std::vector<Key>& keys() const { return keys_; }  ///< by number

private:
    static constexpr std::uint32_t kFree = UINT32_MAX;
    /// The slot of the key, or the free one where it belongs.
    std::size_t slot_of(const Key& key) const;
    void make_slots(std::size_t count);

    std::vector<Key> keys_;
    std::vector<std::uint32_t> slots_;  ///< numbers; a power of two of them
};

}  // namespace debubble
