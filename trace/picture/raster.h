#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "trace/picture/colours.h"
#include "trace/picture/document/time_axis.h"

/// Painting into an image of 32-bit pixels. All coordinates are device pixels, also those of axes
/// (TimeAxis::scaled).
namespace debubble::picture {

inline std::uint32_t pixel(Rgb c) {
    return 0xff000000U | static_cast<std::uint32_t>(c.red) << 16U |
           static_cast<std::uint32_t>(c.green) << 8U | c.blue;
}

/// A band of lines from `y` on.
struct Band {
    int y = 0;
    int height = 0;
    int bottom() const { return y + height; }
    friend bool operator==(const Band&, const Band&) = default;
};

/// The halves of a band, one for each compute of an Overlap.
inline Band upper_half(Band band) {
    return {band.y, band.height / 2};
}
inline Band lower_half(Band band) {
    return {band.y + band.height / 2, band.height - band.height / 2};
}

/// A part of an image with pixels 0xffRRGGBB, to which painting is clipped.
struct Canvas {
    std::uint32_t* pixels = nullptr;
    int width = 0;
    int height = 0;
    std::ptrdiff_t stride = 0;  ///< distance from one line to the next, in pixels

    std::uint32_t* line(int y) const { return pixels + y * stride; }
    /// The canvas from column `left` on.
    Canvas from(int left) const { return {pixels + left, width - left, height, stride}; }
};

void fill(const Canvas& canvas, int left, int right, Band band, Rgb colour);

/// The ground below the bars: idle time within the step, and the time outside of it.
struct BarGround {
    TimeRange step;
    Rgb idle;
    Rgb outside;
};

/// Calls visit(column, its range of time) for every pixel column of the axis, from left to right.
/// No range is empty.
template <class Visit>
void for_each_column(const TimeAxis& axis, Visit&& visit) {
    const double ns = axis.ns_per_pixel();
    const Instant origin = axis.shown().begin;
    Instant begin = origin;
    const auto columns = static_cast<int>(std::lround(axis.width()));
    for (int x = 0; x < columns; ++x) {
        const Instant edge = origin + Duration{static_cast<Duration::rep>((x + 1) * ns + 0.5)};
        const Instant end = std::max(edge, begin + Duration{1});
        visit(x, TimeRange{begin, end});
        begin = end;
    }
}

/// The mean colour of the tracks in every pixel column of the axis, by area.
std::vector<std::uint32_t> mean_colours(std::span<const ColourSums* const> tracks,
                                        const TimeAxis& axis, const BarGround& ground);

/// Fills every line of the band with these colours, from column 0 on.
void fill_columns(const Canvas& canvas, Band band, std::span<const std::uint32_t> colours);

/// Draws lines at 45 degrees in [left, right), `period` pixels apart. They start at the left edge,
/// so that they move with the filled area.
void hatch(const Canvas& canvas, double left, double right, Band band, Rgb colour, int period,
           int thickness);

struct MemoryScale {
    Bytes top;  ///< at the upper edge of the band
    std::optional<Bytes> limit;
    double y(Band band, Bytes held) const;
};

/// Columns of one colour, each from its line in `tops` to the end of the band.
struct StepLevel {
    std::vector<int> tops;
    Rgb fill;
};
/// Fills levels over each other, and the space above all of them with `ground` if that is set.
/// Every line of the canvas is visited once.
void fill_steps(const Canvas& canvas, Band band, std::span<const StepLevel> levels,
                std::optional<Rgb> ground);
/// Draws the uppermost line of these columns only.
void draw_edge(const Canvas& canvas, Band band, std::span<const int> tops, Rgb ink);

/// A text, rendered once: the share of each pixel that its letters cover.
struct Mask {
    int width = 0;
    int height = 0;
    std::vector<std::uint8_t> coverage;  ///< line by line
};
void stamp(const Canvas& canvas, int left, int top, const Mask& mask, Rgb ink);

/// The share of working devices, 0 to 1, per column of an axis. One replica of each rank counts.
std::vector<float> utilisation(const TimelineDocument& document, const Colouring& colouring,
                               const TimeAxis& axis);

}  // namespace debubble::picture
