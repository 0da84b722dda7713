#include "sim/small_timeline.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "trace/picture/colours.h"
#include "trace/picture/raster.h"

namespace debubble::sim {
namespace {

/// The share of each column that each kind of work covers; what is missing is idle.
struct Line {
    explicit Line(int width) : shares(width) {}

    void add(double left, double right, Paint paint, double weight) {
        const double most = static_cast<double>(shares.size());
        left = std::clamp(left, 0.0, most);
        right = std::clamp(right, 0.0, most);
        for (auto x = static_cast<std::size_t>(left); static_cast<double>(x) < right; ++x) {
            const double from = std::max(left, static_cast<double>(x));
            const double to = std::min(right, static_cast<double>(x + 1));
            shares[x][paint] += static_cast<float>(weight * (to - from));
        }
    }

    std::vector<ArrayBy<Paint, float, kPaints>> shares;
};

std::vector<std::uint32_t> coloured(const Line& line, double end, picture::Theme theme) {
    const Palette& palette = picture::palette_of(theme);
    const Rgb outside = picture::ground_of(theme).window;
    std::vector<std::uint32_t> pixels;
    pixels.reserve(line.shares.size());
    for (std::size_t x = 0; x < line.shares.size(); ++x) {
        const double inside = std::clamp(end - static_cast<double>(x), 0.0, 1.0);
        std::array<double, 3> sum{};
        double idle = inside;
        const auto mix_in = [&](Rgb colour, double share) {
            sum[0] += share * colour.red;
            sum[1] += share * colour.green;
            sum[2] += share * colour.blue;
        };
        for (std::size_t kind = 0; kind < kPaints; ++kind) {
            const double share = std::min(idle, static_cast<double>(line.shares[x][kind]));
            mix_in(palette[kind], share);
            idle -= share;
        }
        mix_in(palette[Paint::Bubble], idle);
        mix_in(outside, 1 - inside);
        const auto byte = [&](std::size_t channel) {
            return static_cast<std::uint8_t>(std::lround(std::clamp(sum[channel], 0.0, 255.0)));
        };
        pixels.push_back(picture::pixel({byte(0), byte(1), byte(2)}));
    }
    return pixels;
}

}  // namespace

SmallBars small_bars(const std::vector<Span>& spans) {
    SmallBars small;
    if (spans.empty()) return small;
    int ranks = 0;
    small.range = {Instant::max(), Instant::min()};
    for (const Span& span : spans) {
        ranks = std::max(ranks, span.rank.index + 1);
        small.range = {std::min(small.range.begin, span.begin),
                       std::max(small.range.end, span.end)};
    }
    const int step = (ranks + static_cast<int>(kMostLines) - 1) / static_cast<int>(kMostLines);
    small.lines = (ranks + step - 1) / step;
    for (const Span& span : spans) {
        if (span.lane != Lane::Compute || span.replica != 0 || span.rank.index % step != 0)
            continue;
        SmallBars::Bar bar{span.begin, span.end, span.rank.index / step, paint_of(span.action), {}};
        if (const auto* both = std::get_if<Overlap>(&span.action))
            bar.second = paint_of(Action(both->second));
        small.bars.push_back(bar);
    }
    return small;
}

SmallTimeline small_timeline(const SmallBars& step, Duration axis, int width) {
    SmallTimeline small{width, {}, {}};
    if (step.lines == 0 || axis <= Duration{}) return small;
    std::vector<Line> lines(step.lines, Line(width));
    const double per_ns = width / static_cast<double>(axis.count());
    const auto x = [&](Instant at) {
        return per_ns * static_cast<double>((at - step.range.begin).count());
    };
    for (const SmallBars::Bar& bar : step.bars) {
        Line& line = lines[bar.line];
        line.add(x(bar.begin), x(bar.end), bar.paint, bar.second ? 0.5 : 1);
        if (bar.second) line.add(x(bar.begin), x(bar.end), *bar.second, 0.5);
    }
    for (const Line& line : lines) {
        small.light.push_back(coloured(line, x(step.range.end), picture::Theme::Light));
        small.dark.push_back(coloured(line, x(step.range.end), picture::Theme::Dark));
    }
    return small;
}

}  // namespace debubble::sim
