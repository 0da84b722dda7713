#include "trace/picture/bubbles.h"

#include <algorithm>
#include <cmath>
#include <string_view>

#include <fmt/format.h>

#include "text/wording.h"

namespace debubble::picture {
namespace {

using Lines = ArrayBy<BubbleCause, Rgb, kBubbleCauses>;

/// Waits for messages and collectives have the hue of the communication.
constexpr Lines kLightLines{{{{0x3F, 0x6E, 0x94},
                              {0x6E, 0x6A, 0x86},
                              {0xC0, 0x39, 0x2B},
                              {0x9B, 0x3F, 0x85},
                              {0x53, 0x09, 0x3A},
                              {0x85, 0x6B, 0x00},
                              {0x0F, 0x76, 0x6E},
                              {0x9A, 0x4A, 0x12}}}};
constexpr Lines kDarkLines{{{{0x7F, 0xA8, 0xCC},
                             {0xA6, 0xA1, 0xC4},
                             {0xFF, 0x7B, 0x6B},
                             {0xF8, 0xA2, 0xB8},
                             {0xC7, 0x6B, 0xB9},
                             {0xD9, 0xC5, 0x4A},
                             {0x4C, 0xC3, 0xB5},
                             {0xF0, 0x9A, 0x56}}}};
constexpr double kTint = 0.1;  ///< share of the lines' colour in the ground

Duration rounded(Duration time) {
    constexpr Duration::rep kThreeDigits = 1000;
    Duration::rep unit = 1;
    while (time.count() / unit >= kThreeDigits) unit *= 10;
    return Duration{(time.count() + unit / 2) / unit * unit};
}

}  // namespace

BubbleColours bubble_colours(BubbleCause cause, Theme theme) {
    const Lines& lines = theme == Theme::Light ? kLightLines : kDarkLines;
    const Rgb line = lines[cause];
    return {mix(paint(Paint::Bubble, theme), line, kTint), line, ground_of(theme).text};
}

std::vector<std::string> bubble_label(BubbleCause cause, Duration length, double letters,
                                      int lines) {
    constexpr double kShortest = 4;  // letters of "1 ns", the shortest label
    if (letters < kShortest || lines < 1) return {};
    const std::string time = text::time_text(rounded(length));
    const std::string name(name_of(cause));
    const auto has_room = [&](const std::string& line) {
        return static_cast<double>(line.size()) <= letters;
    };
    if (const std::string_view words = wording_of(cause); words != name)
        if (std::string line = fmt::format("{}, {}", words, time); has_room(line)) return {line};
    if (std::string line = fmt::format("{} {}", name, time); has_room(line)) return {line};
    if (lines > 1 && has_room(name) && has_room(time)) return {name, time};
    if (has_room(time)) return {time};
    return {};
}

Hatch recompute_hatch(Theme theme) {
    constexpr double kThickness = 2;
    return {{}, mix(paint(Paint::Forward, theme), ground_of(theme).window, 0.6), kThickness};
}

std::vector<std::uint32_t> wide_bubbles(const TimelineDocument& document, const Device& device,
                                        const TimeAxis& axis, double least_width) {
    const auto& bubbles = document.statistics.bubbles;
    const Duration least{static_cast<Duration::rep>(std::ceil(least_width * axis.ns_per_pixel()))};
    const auto first = bubbles.begin() + device.first_bubble;
    const auto last = bubbles.begin() + device.last_bubble;
    const TimeRange shown = axis.shown();
    const auto in_sight = std::ranges::upper_bound(first, last, shown.begin, {}, &Bubble::end);
    const auto beyond = std::ranges::lower_bound(in_sight, last, shown.end, {}, &Bubble::begin);
    std::vector<std::uint32_t> wide;
    const auto add = [&](std::uint32_t i) {
        const Bubble& b = bubbles[i];
        if (b.end - b.begin >= least && TimeRange{b.begin, b.end}.meets(shown)) wide.push_back(i);
    };
    if (static_cast<double>(beyond - in_sight) < 4 * axis.width()) {
        for (auto b = in_sight; b != beyond; ++b)
            add(static_cast<std::uint32_t>(b - bubbles.begin()));
        return wide;
    }
    // With far more bubbles than pixels, few of them can be wide.
    const std::size_t count = device.last_bubble - device.first_bubble;
    for (std::size_t block = 0; block < device.longest_bubbles.size(); ++block) {
        if (device.longest_bubbles[block] < least) continue;
        const std::size_t end = std::min(count, (block + 1) * kBubbleBlock);
        for (std::size_t i = block * kBubbleBlock; i < end; ++i)
            add(static_cast<std::uint32_t>(device.first_bubble + i));
    }
    std::ranges::stable_sort(wide, std::ranges::greater{},
                             [&](std::uint32_t i) { return bubbles[i].end - bubbles[i].begin; });
    return wide;
}

}  // namespace debubble::picture
