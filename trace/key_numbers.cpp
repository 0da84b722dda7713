#include "trace/span_table.h"

#include <algorithm>
#include <bit>

namespace debubble {
namespace {

/// Every bit of the key moves about half of the bits of the result: the finalizer of SplitMix64
/// (Steele, Lea and Flood, OOPSLA 2014).
std::uint64_t mixed(std::uint64_t x) {
    x = (x ^ (x >> 30U)) * 0xbf58476d1ce4e5b9U;
    x = (x ^ (x >> 27U)) * 0x94d049bb133111ebU;
    return x ^ (x >> 31U);
}

}  // namespace

std::size_t KeyNumbers::slot_of(const Key& key) const {
    const std::size_t mask = slots_.size() - 1;
    std::size_t slot = mixed(key.high * 0x9e3779b97f4a7c15U + key.low) & mask;
    while (slots_[slot] != kFree && keys_[slots_[slot]] != key) slot = (slot + 1) & mask;
    return slot;
}

void KeyNumbers::make_slots(std::size_t count) {
    slots_.assign(std::max<std::size_t>(16, std::bit_ceil(count)), kFree);
    for (std::uint32_t number = 0; number < keys_.size(); ++number)
        slots_[slot_of(keys_[number])] = number;
}

void KeyNumbers::reserve(std::size_t keys) {
    keys_.reserve(keys);
    if (2 * keys > slots_.size()) make_slots(2 * keys);
}

std::uint32_t KeyNumbers::number_or_add(const Key& key) {
    if (2 * (keys_.size() + 1) > slots_.size()) make_slots(2 * slots_.size());
    std::uint32_t& slot = slots_[slot_of(key)];
    if (slot == kFree) {
        slot = static_cast<std::uint32_t>(keys_.size());
        keys_.push_back(key);
    }
    return slot;
}

std::optional<std::uint32_t> KeyNumbers::number(const Key& key) const {
    if (slots_.empty()) return std::nullopt;
    const std::uint32_t found = slots_[slot_of(key)];
    return found == kFree ? std::nullopt : std::optional(found);
}

}  // namespace debubble
