#include "trace/picture/document/memory_series.h"

#include <algorithm>
#include <cassert>

namespace debubble::picture {
namespace {

constexpr std::size_t kFan = 8;

bool is_lasting(MemoryClass c) {
    return c != MemoryClass::Activations && c != MemoryClass::Workspace;
}

}  // namespace

MemorySeries::Extent MemorySeries::joined(const Extent& a, const Extent& b) {
    return {std::min(a.least, b.least), std::max(a.greatest, b.greatest),
            std::max(a.lasting, b.lasting), a.greatest < b.greatest ? b.by_class : a.by_class};
}

MemorySeries::MemorySeries(std::span<const MemorySample> samples) {
    MemoryByClass held{};
    Bytes all;
    Bytes lasting;
    for (const MemorySample& sample : samples) {
        Bytes& of_class = held[static_cast<std::size_t>(sample.held_as)];
        all += sample.held - of_class;
        if (is_lasting(sample.held_as)) lasting += sample.held - of_class;
        of_class = sample.held;
        // All classes that change at one instant change together.
        if (steps_.empty() || steps_.back().at != sample.at) steps_.push_back({sample.at, {}, {}});
        Step& step = steps_.back();
        step.held = all;
        step.lasting = lasting;
        for (std::size_t c = 0; c < kMemoryClasses; ++c)
            step.by_class[c] = static_cast<float>(held[c].count);
    }
    std::vector<Extent> below;
    for (const Step& step : steps_)
        below.push_back({step.held, step.held, step.lasting, step.by_class});
    while (below.size() > kFan) {
        std::vector<Extent> level;
        for (std::size_t i = 0; i < below.size(); i += kFan) {
            Extent block = below[i];
            for (std::size_t k = i + 1; k < std::min(i + kFan, below.size()); ++k)
                block = joined(block, below[k]);
            level.push_back(block);
        }
        levels_.push_back(level);
        below = std::move(level);
    }
}

Bytes MemorySeries::held_at(Instant at) const {
    const auto next = std::ranges::upper_bound(steps_, at, {}, &Step::at);
    return next == steps_.begin() ? Bytes{} : std::prev(next)->held;
}

MemoryByClass MemorySeries::held_by_class(Instant at) const {
    MemoryByClass held{};
    const auto next = std::ranges::upper_bound(steps_, at, {}, &Step::at);
    if (next == steps_.begin()) return held;
    for (std::size_t c = 0; c < kMemoryClasses; ++c)
        held[c] = Bytes{static_cast<std::int64_t>(std::prev(next)->by_class[c])};
    return held;
}

Bytes MemorySeries::greatest() const {
    return steps_.empty() ? Bytes{} : extent(0, steps_.size()).greatest;
}

MemorySeries::Extent MemorySeries::extent(std::size_t first, std::size_t last) const {
    assert(first < last && "an extent is of something");
    const auto of_step = [&](std::size_t i) {
        const Step& step = steps_[i];
        return Extent{step.held, step.held, step.lasting, step.by_class};
    };
    Extent sum = of_step(first);
    // Goes up the levels at the ragged edges, then across the widest blocks that fit between them.
    const auto at = [&](std::size_t level, std::size_t i) {
        return level == 0 ? of_step(i) : levels_[level - 1][i];
    };
    for (std::size_t level = 0; first < last; ++level) {
        const bool top = level == levels_.size();
        for (; first < last && (top || first % kFan != 0); ++first)
            sum = joined(sum, at(level, first));
        for (; first < last && last % kFan != 0; --last) sum = joined(sum, at(level, last - 1));
        first /= kFan;
        last /= kFan;
    }
    return sum;
}

std::size_t MemorySeries::first_from(std::size_t first, Instant at) const {
    if (first == steps_.size() || steps_[first].at >= at) return first;
    std::size_t stride = 1;
    while (first + stride < steps_.size() && steps_[first + stride].at < at) stride *= 2;
    const auto begin = steps_.begin() + static_cast<std::ptrdiff_t>(first);
    const auto end =
        steps_.begin() + static_cast<std::ptrdiff_t>(std::min(first + stride + 1, steps_.size()));
    return static_cast<std::size_t>(
        std::ranges::lower_bound(begin, end, at, std::ranges::less{}, &Step::at) - steps_.begin());
}

MemorySeries::Extent MemorySeries::from(std::size_t next, Instant end) const {
    const std::size_t last = first_from(next, end);
    if (next > 0) return extent(next - 1, last);
    if (next == last) return {};
    Extent sum = extent(next, last);
    sum.least = Bytes{};
    return sum;
}

MemorySeries::Extent MemorySeries::over(TimeRange window) const {
    return from(first_from(0, window.begin + Duration{1}), window.end);
}

MemorySeries::Extent MemorySeries::Walk::over(TimeRange window) {
    next_ = series_->first_from(next_, window.begin + Duration{1});
    return series_->from(next_, window.end);
}

}  // namespace debubble::picture
