#include "trace/picture/document/memory_series.h"

#include <algorithm>
#include <cassert>

namespace debubble::picture {
namespace {

bool is_lasting(MemoryClass c) {
    return c != MemoryClass::Activations && c != MemoryClass::Workspace;
}

/// The held bytes, updated sample by sample.
class Held {
public:
    explicit Held(const MemoryByClass& before) : by_class_(before) {
        for (std::size_t c = 0; c < kMemoryClasses; ++c) {
            all_ += by_class_[c];
            if (is_lasting(static_cast<MemoryClass>(c))) lasting_ += by_class_[c];
        }
    }

    void take(const MemorySample& sample) {
        Bytes& of_class = by_class_[sample.held_as];
        all_ += sample.held - of_class;
        if (is_lasting(sample.held_as)) lasting_ += sample.held - of_class;
        of_class = sample.held;
    }

    Bytes all() const { return all_; }
    Bytes lasting() const { return lasting_; }
    const MemoryByClass& by_class() const { return by_class_; }

private:
    MemoryByClass by_class_;
    Bytes all_;
    Bytes lasting_;
};

}  // namespace

MemorySeries::Extent MemorySeries::joined(const Extent& a, const Extent& b) {
    return {std::min(a.least, b.least), std::max(a.greatest, b.greatest),
            std::max(a.lasting, b.lasting), a.greatest < b.greatest ? b.by_class : a.by_class};
}

MemorySeries::Extent MemorySeries::extent_of(const Step& step) {
    return {step.held, step.held, step.lasting, step.by_class};
}

MemorySeries::MemorySeries(std::span<const MemorySample> samples) : samples_(samples) {
    if (samples_.empty()) return;
    for (std::size_t i = 0; i < samples_.size(); ++i)
        count_ += i == 0 || samples_[i].at != samples_[i - 1].at ? 1 : 0;
    const std::size_t blocks = (count_ + kFan - 1) / kFan;
    blocks_.reserve(blocks);
    Held held(MemoryByClass{});
    for (std::size_t i = 0, step = 0; i < samples_.size(); ++i) {
        const bool begins = i == 0 || samples_[i].at != samples_[i - 1].at;
        if (begins && step++ % kFan == 0)
            blocks_.push_back({static_cast<std::uint32_t>(i), held.by_class()});
        held.take(samples_[i]);
    }
    if (count_ <= kFan) return;
    std::vector<Extent>& lowest = levels_.emplace_back();
    lowest.reserve(blocks);
    std::array<Step, kFan> steps;
    for (std::size_t block = 0; block < blocks; ++block) {
        const std::size_t count = read(block, steps);
        Extent sum = extent_of(steps[0]);
        for (std::size_t k = 1; k < count; ++k) sum = joined(sum, extent_of(steps[k]));
        lowest.push_back(sum);
    }
    while (levels_.back().size() > kFan) {
        const std::vector<Extent>& below = levels_.back();
        std::vector<Extent> level;
        level.reserve((below.size() + kFan - 1) / kFan);
        for (std::size_t i = 0; i < below.size(); i += kFan) {
            Extent block = below[i];
            for (std::size_t k = i + 1; k < std::min(i + kFan, below.size()); ++k)
                block = joined(block, below[k]);
            level.push_back(block);
        }
        levels_.push_back(std::move(level));
    }
}

/// Computes the steps of a block; returns their number.
std::size_t MemorySeries::read(std::size_t block, std::span<Step, kFan> steps) const {
    const std::size_t end = block + 1 < blocks_.size() ? blocks_[block + 1].first : samples_.size();
    Held held(blocks_[block].before);
    std::size_t count = 0;
    for (std::size_t i = blocks_[block].first; i < end;) {
        const Instant at = samples_[i].at;
        for (; i < end && samples_[i].at == at; ++i) held.take(samples_[i]);
        Step& step = steps[count++];
        step.at = at;
        step.held = held.all();
        step.lasting = held.lasting();
        for (std::size_t c = 0; c < kMemoryClasses; ++c)
            step.by_class[c] = static_cast<float>(held.by_class()[c].count);
    }
    return count;
}

const MemorySeries::Step& MemorySeries::Steps::operator[](std::size_t step) {
    const std::size_t block = step / kFan;
    if (read_[latest_].block != block) {
        latest_ = 1 - latest_;
        Read& other = read_[latest_];
        if (other.block != block) {
            other.block = block;
            series_->read(block, other.steps);
        }
    }
    return read_[latest_].steps[step % kFan];
}

std::optional<MemorySeries::Step> MemorySeries::step_at(Instant at) const {
    const auto begin_of = [&](const Block& block) { return samples_[block.first].at; };
    const auto later = std::ranges::upper_bound(blocks_, at, {}, begin_of);
    if (later == blocks_.begin()) return std::nullopt;
    std::array<Step, kFan> steps;
    const std::size_t block = later - blocks_.begin() - 1;
    const auto read_steps = std::span(steps).first(read(block, steps));
    return *std::prev(std::ranges::upper_bound(read_steps, at, {}, &Step::at));
}

Bytes MemorySeries::held_at(Instant at) const {
    const auto step = step_at(at);
    return step ? step->held : Bytes{};
}

MemoryByClass MemorySeries::held_by_class(Instant at) const {
    MemoryByClass held{};
    const auto step = step_at(at);
    if (!step) return held;
    for (std::size_t c = 0; c < kMemoryClasses; ++c)
        held[c] = Bytes{static_cast<std::int64_t>(step->by_class[c])};
    return held;
}

Bytes MemorySeries::greatest() const {
    if (empty()) return {};
    Steps steps(*this);
    return extent(steps, 0, count_).greatest;
}

MemorySeries::Extent MemorySeries::extent(Steps& steps, std::size_t first, std::size_t last) const {
    assert(first < last && "an extent needs at least one step");
    Extent sum = extent_of(steps[first]);
    // Joins the entries at both edges level by level, then the rest on the top level.
    const auto at = [&](std::size_t level, std::size_t i) {
        return level == 0 ? extent_of(steps[i]) : levels_[level - 1][i];
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

std::size_t MemorySeries::first_from(Steps& steps, std::size_t first, Instant at) const {
    if (first == count_ || steps[first].at >= at) return first;
    // The strides double: near blocks are found at once, far ones in logarithmic time.
    const auto begins_before = [&](std::size_t block) {
        return block < blocks_.size() && samples_[blocks_[block].first].at < at;
    };
    std::size_t block = first / kFan;
    std::size_t stride = 1;
    while (begins_before(block + stride)) {
        block += stride;
        stride *= 2;
    }
    for (; stride > 0; stride /= 2)
        if (begins_before(block + stride)) block += stride;
    std::size_t step = std::max(first, block * kFan);
    while (step < count_ && step / kFan == block && steps[step].at < at) ++step;
    return step;
}

MemorySeries::Extent MemorySeries::from(Steps& steps, std::size_t next, Instant end) const {
    const std::size_t last = first_from(steps, next, end);
    if (next > 0) return extent(steps, next - 1, last);
    if (next == last) return {};
    Extent sum = extent(steps, next, last);
    sum.least = Bytes{};
    return sum;
}

MemorySeries::Extent MemorySeries::over(TimeRange window) const {
    return Walk(*this).over(window);
}

MemorySeries::Extent MemorySeries::Walk::over(TimeRange window) {
    next_ = series_->first_from(steps_, next_, window.begin + Duration{1});
    return series_->from(steps_, next_, window.end);
}

}  // namespace debubble::picture
