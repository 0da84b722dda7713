#include "trace/exposed_parts.h"

#include <algorithm>

namespace debubble {

std::size_t ExposedParts::Hash::operator()(const DurationByKind& parts) const {
    std::uint64_t hash = 0;
    for (const Duration part : parts)
        hash = (hash ^ static_cast<std::uint64_t>(part.count())) * 0x9e3779b97f4a7c15U;
    return hash ^ (hash >> 32U);
}

std::uint32_t ExposedParts::number(const DurationByKind& parts) {
    const auto is_zero = [](Duration part) { return part == Duration{}; };
    if (std::ranges::all_of(parts, is_zero)) return 0;
    const auto next = static_cast<std::uint32_t>(parts_.size() + 1);
    const auto [place, is_new] = numbers_.try_emplace(parts, next);
    if (is_new) parts_.push_back(parts);
    return place->second;
}

}  // namespace debubble
