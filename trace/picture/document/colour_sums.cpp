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

ColourSums::ColourSums(const Bars& bars, const std::vector<Rgb>& colours) {
    assert(bars.size() == colours.size() && "every bar has a colour");
    entries_.reserve(bars.size() + 1);
    ColourArea sum;
    for (std::size_t i = 0; i < bars.size(); ++i) {
        entries_.push_back({bars[i].begin, bars[i].end, sum, colours[i]});
        sum += area_of(bars[i].end - bars[i].begin, colours[i]);
    }
    entries_.push_back({Instant::max(), Instant::max(), sum, {}});
    if (bars.empty()) return;

    origin_ = bars.front().begin;
    const auto length = static_cast<std::uint64_t>((bars.back().end - origin_).count());
    shift_ = static_cast<int>(std::bit_width(length / bars.size()));
    cells_.resize((length >> static_cast<unsigned>(shift_)) + 1);
    std::uint32_t next = 0;
    for (std::size_t cell = 0; cell < cells_.size(); ++cell) {
        const Duration offset{static_cast<std::int64_t>(cell << static_cast<unsigned>(shift_))};
        while (entries_[next].end <= origin_ + offset) ++next;
        cells_[cell] = next;
    }
}

ColourArea ColourSums::at_bar(std::size_t next, Instant at) const {
    const Entry& entry = entries_[next];
    ColourArea area = entry.before;
    if (at > entry.begin) area += area_of(at - entry.begin, entry.colour);
    return area;
}

ColourArea ColourSums::over(TimeRange window) const {
    const auto until = [&](Instant at) {
        const auto next = std::ranges::upper_bound(entries_, at, {}, &Entry::end);
        return at_bar(std::min<std::size_t>(next - entries_.begin(), entries_.size() - 1), at);
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
    while (sums.entries_[next_].end <= at) ++next_;
    return sums.at_bar(next_, at);
}

}  // namespace debubble::picture
