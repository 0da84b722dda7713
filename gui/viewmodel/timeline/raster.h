#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "gui/viewmodel/timeline/colours.h"
#include "gui/viewmodel/timeline/time_axis.h"

/// Fills an image of 32-bit pixels. All coordinates are device pixels; axes too (TimeAxis::scaled).
namespace debubble::gui {

inline std::uint32_t pixel(Rgb c) {
    return 0xff000000U | static_cast<std::uint32_t>(c.red) << 16U |
           static_cast<std::uint32_t>(c.green) << 8U | c.blue;
}

/// Lines from `y` on.
struct Band {
    int y = 0;
    int height = 0;
    int bottom() const { return y + height; }
    friend bool operator==(const Band&, const Band&) = default;
};

/// Part of an image, 0xffRRGGBB. What lies outside is cut off.
struct Canvas {
    std::uint32_t* pixels = nullptr;
    int width = 0;
    int height = 0;
    std::ptrdiff_t stride = 0;  ///< pixels from one line to the next

    std::uint32_t* line(int y) const { return pixels + y * stride; }
    /// From column `left` on.
    Canvas from(int left) const { return {pixels + left, width - left, height, stride}; }
};

void fill(const Canvas& canvas, int left, int right, Band band, Rgb colour);

/// What lies under the bars: idle time within the step, and what is outside of it.
struct BarGround {
    TimeRange step;
    Rgb idle;
    Rgb outside;
};

/// The mean colour of the tracks in every pixel column of the axis, by area.
std::vector<std::uint32_t> mean_colours(std::span<const ColourSums* const> tracks,
                                        const TimeAxis& axis, const BarGround& ground);

/// Every line of the band gets these colours, from column 0 on.
void fill_columns(const Canvas& canvas, Band band, std::span<const std::uint32_t> colours);

/// Lines at 45 degrees in [left, right), `period` pixels apart, that start at the left edge: they
/// move with what they fill.
void hatch(const Canvas& canvas, double left, double right, Band band, Rgb colour, int period,
           int thickness);

/// A hairline at the end of every bar wide enough for one, so that equal neighbours stay apart.
void separate(const Canvas& canvas, Band band, const Bars& bars, const TimeAxis& axis, Rgb ground,
              int thickness);

struct MemoryScale {
    Bytes top;  ///< at the upper edge of the band
    std::optional<Bytes> limit;
    int y(Band band, Bytes held) const;
};

/// Least and greatest held per column, what lasts darker, red above the limit.
void paint_memory(const Canvas& canvas, Band band, const MemorySeries& series, const TimeAxis& axis,
                  const MemoryScale& scale, const Ground& ground);

/// The same where there is no room: the darker, the fuller; red above the limit.
void paint_memory_heat(const Canvas& canvas, Band band, const MemorySeries& series,
                       const TimeAxis& axis, const MemoryScale& scale, const Ground& ground);

/// A text, rendered once: how much of each pixel its letters cover.
struct Mask {
    int width = 0;
    int height = 0;
    std::vector<std::uint8_t> coverage;  ///< by lines
};
void stamp(const Canvas& canvas, int left, int top, const Mask& mask, Rgb ink);

/// Share of the devices that work, per column of an axis, 0 to 1. One replica of each rank.
std::vector<float> utilisation(const TimelineDocument& document, const Colouring& colouring,
                               const TimeAxis& axis);

}  // namespace debubble::gui
