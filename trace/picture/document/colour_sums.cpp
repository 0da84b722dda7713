#include "trace/picture/document/colour_sums.h"

#include <algorithm>
#include <bit>
#include <cassert>
#include <cmath>

namespace debubble::picture {
namespace {

ColourArea area_of(Duration length, Rgb colour) {
    const std::int64_t ns = length.count();
    return {ns, ns * colour.red, ns * colour.green, ns * colour.blue};
}

}  // namespace

Rgb blend(const ColourArea& area, Duration length, Rgb ground) {
    // Several tracks painted onto one lane may cover more than its length.
    const std::int64_t whole = std::max<std::int64_t>(area.covered, length.count());
    if (whole <= 0) return ground;
    const double bare = static_cast<double>(whole - area.covered);
    const double part = 1.0 / static_cast<double>(whole);
    const auto channel = [&](std::int64_t sum, std::uint8_t under) {
        const double mean = (static_cast<double>(sum) + bare * under) * part;
        return static_cast<std::uint8_t>(mean + 0.5);
    };
    return {channel(area.red, ground.red), channel(area.green, ground.green),
            channel(area.blue, ground.blue)};
}

ColourSums::ColourSums(std::span<const Bar> bars, const std::vector<Rgb>& colours) : bars_(bars) {
    assert(bars.size() == colours.size() && "every bar has a colour");
    if (!colours.empty()) only_ = colours.front();
    const auto is_other = [&](Rgb colour) { return colour != only_; };
    if (std::ranges::any_of(colours, is_other))
        sum_blocks(colours);
    else
        sum_covered();
    if (bars.empty()) return;

    origin_ = bars.front().begin;
    const auto length = static_cast<std::uint64_t>((bars.back().end - origin_).count());
    shift_ = static_cast<int>(std::bit_width(2 * kBlock * (length / bars.size())));
    cells_.resize((length >> static_cast<unsigned>(shift_)) + 1);
    std::uint32_t next = 0;
    for (std::size_t cell = 0; cell < cells_.size(); ++cell) {
        const Duration offset{static_cast<std::int64_t>(cell << static_cast<unsigned>(shift_))};
        while (next < bars.size() && bars[next].end <= origin_ + offset) ++next;
        cells_[cell] = next;
    }
}

void ColourSums::sum_blocks(const std::vector<Rgb>& colours) {
    blocks_.resize(bars_.size() / kBlock + 1);
    ColourArea sum;
    for (std::size_t i = 0; i < bars_.size(); ++i) {
        Block& block = blocks_[i / kBlock];
        if (i % kBlock == 0) block.before = sum;
        block.colours[i % kBlock] = colours[i];
        sum += area_of(bars_[i].end - bars_[i].begin, colours[i]);
    }
    if (bars_.size() % kBlock == 0) blocks_.back().before = sum;
}

void ColourSums::sum_covered() {
    covered_.reserve(bars_.size() / kCovered + 1);
    std::int64_t sum = 0;
    for (std::size_t i = 0; i < bars_.size(); ++i) {
        if (i % kCovered == 0) covered_.push_back(sum);
        sum += (bars_[i].end - bars_[i].begin).count();
    }
    if (bars_.size() % kCovered == 0) covered_.push_back(sum);
}

ColourArea ColourSums::at_bar(std::size_t next, Instant at) const {
    if (blocks_.empty()) {
        Duration covered{covered_[next / kCovered]};
        for (std::size_t i = next - next % kCovered; i < next; ++i)
            covered += bars_[i].end - bars_[i].begin;
        if (next < bars_.size() && at > bars_[next].begin) covered += at - bars_[next].begin;
        return area_of(covered, only_);
    }
    const Block& block = blocks_[next / kBlock];
    ColourArea area = block.before;
    const std::size_t first = next - next % kBlock;
    for (std::size_t i = first; i < next; ++i)
        area += area_of(bars_[i].end - bars_[i].begin, block.colours[i - first]);
    if (next < bars_.size() && at > bars_[next].begin)
        area += area_of(at - bars_[next].begin, block.colours[next - first]);
    return area;
}

ColourArea ColourSums::over(TimeRange window) const {
    const auto until = [&](Instant at) {
        const auto next = std::ranges::upper_bound(bars_, at, {}, &Bar::end);
        return at_bar(next - bars_.begin(), at);
    };
    return until(window.end) - until(window.begin);
}

ColourArea ColourSums::Walk::until(Instant at) {
    const ColourSums& sums = *sums_;
    if (!sums.cells_.empty() && at > sums.origin_) {
        const auto offset = static_cast<std::uint64_t>((at - sums.origin_).count());
        const std::size_t cell = std::min<std::size_t>(offset >> static_cast<unsigned>(sums.shift_),
                                                       sums.cells_.size() - 1);
        next_ = std::max<std::size_t>(next_, sums.cells_[cell]);
    }
    while (next_ < sums.bars_.size() && sums.bars_[next_].end <= at) ++next_;
    return sums.at_bar(next_, at);
}

}  // namespace debubble::picture
