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
    explicit Line(int width) : shares(static_cast<std::size_t>(width)) {}

    void add(double left, double right, Paint paint, double weight) {
        const auto kind = static_cast<std::size_t>(paint);
        const double most = static_cast<double>(shares.size());
        left = std::clamp(left, 0.0, most);
        right = std::clamp(right, 0.0, most);
        for (auto x = static_cast<std::size_t>(left); static_cast<double>(x) < right; ++x) {
            const double from = std::max(left, static_cast<double>(x));
            const double to = std::min(right, static_cast<double>(x + 1));
            shares[x][kind] += static_cast<float>(weight * (to - from));
        }
    }

    std::vector<std::array<float, kPaints>> shares;
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
        mix_in(palette[static_cast<std::size_t>(Paint::Bubble)], idle);
        mix_in(outside, 1 - inside);
        const auto byte = [&](std::size_t channel) {
            return static_cast<std::uint8_t>(std::lround(std::clamp(sum[channel], 0.0, 255.0)));
        };
        pixels.push_back(picture::pixel({byte(0), byte(1), byte(2)}));
    }
    return pixels;
}

}  // namespace

SmallTimeline small_timeline(const Trace& trace, Duration axis, int width) {
    SmallTimeline small{width, {}, {}};
    if (trace.spans.empty() || axis <= Duration{}) return small;
    int ranks = 0;
    Instant begin = Instant::max();
    Instant end = Instant::min();
    for (const Span& span : trace.spans) {
        ranks = std::max(ranks, span.rank.index + 1);
        begin = std::min(begin, span.begin);
        end = std::max(end, span.end);
    }
    const int step = (ranks + static_cast<int>(kMostLines) - 1) / static_cast<int>(kMostLines);
    std::vector<Line> lines(static_cast<std::size_t>((ranks + step - 1) / step), Line(width));
    const double per_ns = width / static_cast<double>(axis.count());
    const auto x = [&](Instant at) { return per_ns * static_cast<double>((at - begin).count()); };
    for (const Span& span : trace.spans) {
        if (span.lane != Lane::Compute || span.replica != 0 || span.rank.index % step != 0)
            continue;
        Line& line = lines[static_cast<std::size_t>(span.rank.index / step)];
        const auto* both = std::get_if<Overlap>(&span.action);
        line.add(x(span.begin), x(span.end), paint_of(span.action), both != nullptr ? 0.5 : 1);
        if (both != nullptr)
            line.add(x(span.begin), x(span.end), paint_of(Action(both->second)), 0.5);
    }
    for (const Line& line : lines) {
        small.light.push_back(coloured(line, x(end), picture::Theme::Light));
        small.dark.push_back(coloured(line, x(end), picture::Theme::Dark));
    }
    return small;
}

}  // namespace debubble::sim
