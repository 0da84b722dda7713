#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <unordered_map>
#include <vector>

#include "base/units.h"

namespace debubble::picture {

/// Durations of at least 0, by index. Most are 0 or below four seconds. These take no memory in
/// blocks of zeros, and four bytes elsewhere.
class ShortDurations {
public:
    ShortDurations() = default;
    explicit ShortDurations(std::size_t count) : blocks_((count + kBlock - 1) / kBlock) {}

    void set(std::size_t i, Duration duration) {
        std::unique_ptr<Block>& block = blocks_[i / kBlock];
        if (duration == Duration{} && !block) return;
        if (!block) block = std::make_unique<Block>();
        const bool fits = duration.count() < kLong;
        (*block)[i % kBlock] = static_cast<std::uint32_t>(fits ? duration.count() : kLong);
        if (!fits) long_[i] = duration;
    }
    Duration operator[](std::size_t i) const {
        const Block* block = blocks_[i / kBlock].get();
        if (block == nullptr) return {};
        const std::uint32_t ns = (*block)[i % kBlock];
        return ns == kLong ? long_.at(i) : Duration{ns};
    }

private:
    static constexpr std::size_t kBlock = 256;
    static constexpr std::int64_t kLong = std::numeric_limits<std::uint32_t>::max();
    using Block = std::array<std::uint32_t, kBlock>;
    std::vector<std::unique_ptr<Block>> blocks_;
    std::unordered_map<std::size_t, Duration> long_;
};

}  // namespace debubble::picture
