#include "trace/picture/colours.h"

#include <algorithm>
#include <cmath>

#include "trace/picture/subject.h"

namespace debubble::picture {
namespace {

constexpr Ground kLightGround{
    .window = {0xFF, 0xFF, 0xFF},
    .gutter = {0xF7, 0xF8, 0xF9},
    .lane = {0xFA, 0xFB, 0xFB},
    .hatch = {0xC4, 0xC9, 0xCE},
    .grid = {0xE3, 0xE6, 0xE9},
    .text = {0x1F, 0x2D, 0x3A},
    .faint_text = {0x5D, 0x6B, 0x78},
    .accent = {0xD1, 0x1A, 0x6B},
    .warning = {0xD7, 0x26, 0x3D},
    .better = {0x1B, 0x7A, 0x3D},
    .memory_lasting = {0xAE, 0xBB, 0xC6},
    .memory = {{{{0x5B, 0x7D, 0x9C},
                 {0x9C, 0x86, 0xB5},
                 {0x8F, 0xB0, 0x8A},
                 {0xE8, 0xC3, 0x82},
                 {0xB0, 0xB7, 0xBE},
                 {0xDD, 0x9A, 0x8A}}}},
    .memory_edge = {0x53, 0x67, 0x7A},
};

constexpr Ground kDarkGround{
    .window = {0x14, 0x17, 0x1A},
    .gutter = {0x1A, 0x1E, 0x22},
    .lane = {0x18, 0x1B, 0x1F},
    .hatch = {0x4A, 0x52, 0x5A},
    .grid = {0x2B, 0x31, 0x37},
    .text = {0xE6, 0xEA, 0xEE},
    .faint_text = {0x9A, 0xA6, 0xB1},
    .accent = {0x4F, 0xE3, 0xC1},
    .warning = {0xFF, 0x5A, 0x6E},
    .better = {0x6F, 0xD0, 0x8C},
    .memory_lasting = {0x4B, 0x58, 0x64},
    .memory = {{{{0x46, 0x63, 0x80},
                 {0x6E, 0x5B, 0x85},
                 {0x5C, 0x7A, 0x58},
                 {0x9C, 0x7B, 0x43},
                 {0x5A, 0x60, 0x66},
                 {0x93, 0x58, 0x4C}}}},
    .memory_edge = {0x8F, 0xA3, 0xB5},
};

constexpr double kFadedShare = 0.82;
constexpr double kSecondChunk = 0.32;  ///< how much paler every other stage of a device is

/// Hues a golden angle apart, so that neighbours differ for any number of them.
Rgb hue(int index, Theme theme) {
    const double turn = std::fmod(0.58 + 0.381966 * index, 1.0) * 6;
    const double high = theme == Theme::Light ? 0.86 : 0.72;
    const double low = theme == Theme::Light ? 0.42 : 0.26;
    const auto channel = [&](double shift) {
        const double k = std::fmod(turn + shift, 6.0);
        const double part = std::clamp(std::min(k, 4 - k), 0.0, 1.0);
        return static_cast<std::uint8_t>(std::lround(255 * (high - (high - low) * part)));
    };
    return {channel(5), channel(3), channel(1)};
}

Rgb colour_of_kind(const Device& device, const Action& action, Theme theme) {
    const Rgb colour = paint(paint_of(action), theme);
    const auto* compute = std::get_if<Compute>(&action);
    if (compute == nullptr || device.stages.size() < 2) return colour;
    const auto chunk = std::ranges::lower_bound(device.stages, compute->stage);
    if ((chunk - device.stages.begin()) % 2 == 0) return colour;
    return mix(colour, ground_of(theme).window, kSecondChunk);
}

Rgb full_colour_of(const Device& device, std::uint32_t index, const Action& action,
                   const ColourScheme& scheme) {
    if (scheme.by == ColourBy::Kind) return colour_of_kind(device, action, scheme.theme);
    const Rgb neutral = mix(ground_of(scheme.theme).faint_text, ground_of(scheme.theme).lane, 0.5);
    const Subject subject = subject_of(action);
    switch (scheme.by) {
        case ColourBy::Kind: break;
        case ColourBy::MicroBatch:
            return subject.micro_batch ? hue(subject.micro_batch->index, scheme.theme) : neutral;
        case ColourBy::Stage:
            return subject.stage ? hue(subject.stage->index, scheme.theme) : neutral;
        case ColourBy::Error: break;
    }
    if (!scheme.errors || !(*scheme.errors)[index]) return neutral;
    return colour_of_error(*(*scheme.errors)[index], scheme.theme);
}

Rgb colour_on(const Device& device, std::uint32_t index, const Action& action,
              const ColourScheme& scheme) {
    const Rgb colour = full_colour_of(device, index, action, scheme);
    const Rgb ground = paint(Paint::Bubble, scheme.theme);
    const bool meant = !scheme.meant || (*scheme.meant)[index];
    return mix(colour, ground, std::max(scheme.faded, meant ? 0 : kFadedShare));
}

std::vector<Rgb> colours_of(const TimelineDocument& document, const Device& device,
                            const Bars& bars, bool second, const ColourScheme& scheme) {
    std::vector<Rgb> colours;
    colours.reserve(bars.size());
    for (const Bar& bar : bars) {
        const Action& action = document.span(bar.span).action;
        if (const auto* overlap = std::get_if<Overlap>(&action))
            colours.push_back(
                colour_on(device, bar.span, second ? overlap->second : overlap->first, scheme));
        else
            colours.push_back(colour_on(device, bar.span, action, scheme));
    }
    return colours;
}

}  // namespace

const Ground& ground_of(Theme theme) {
    return theme == Theme::Light ? kLightGround : kDarkGround;
}

const Palette& palette_of(Theme theme) {
    return theme == Theme::Light ? kLightPalette : kDarkPalette;
}

Rgb mix(Rgb a, Rgb b, double share) {
    if (share <= 0) return a;
    const auto channel = [share](std::uint8_t from, std::uint8_t to) {
        return static_cast<std::uint8_t>(std::lround(from + (to - from) * share));
    };
    return {channel(a.red, b.red), channel(a.green, b.green), channel(a.blue, b.blue)};
}

Rgb colour_of_error(double error, Theme theme) {
    constexpr double kFull = 0.3;
    constexpr Rgb kTooShort{0x1F, 0x6F, 0xD6};
    constexpr Rgb kTooLong{0xE0, 0x2F, 0x2F};
    const Rgb none = theme == Theme::Light ? Rgb{0xDD, 0xE1, 0xE4} : Rgb{0x3A, 0x40, 0x46};
    const double share = std::min(std::abs(error) / kFull, 1.0);
    return mix(none, error < 0 ? kTooShort : kTooLong, share);
}

std::shared_ptr<const Colouring> colour(const TimelineDocument& document,
                                        const ColourScheme& scheme) {
    auto colouring = std::make_shared<Colouring>();
    colouring->exposed = scheme.by != ColourBy::Error && !scheme.meant;
    for (const Device& device : document.devices) {
        const auto sums = [&](const Bars& bars, bool second) {
            return ColourSums(bars, colours_of(document, device, bars, second, scheme));
        };
        const bool overlaps = std::ranges::any_of(device.work, [&](const Bar& bar) {
            return std::holds_alternative<Overlap>(document.span(bar.span).action);
        });
        DeviceColours& colours = colouring->devices.emplace_back(
            DeviceColours{sums(device.work, false), std::nullopt, {}});
        if (overlaps) colours.lower_half = sums(device.work, true);
        for (const Stream& stream : device.streams)
            colours.streams.push_back(sums(stream.bars, false));
    }
    return colouring;
}

}  // namespace debubble::picture
