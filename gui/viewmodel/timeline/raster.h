#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "gui/viewmodel/timeline/colours.h"
#include "gui/viewmodel/timeline/time_axis.h"

/// Painting into an image of 32-bit pixels. All coordinates are device pixels; those of axes too
/// (TimeAxis::scaled).
namespace debubble::gui {

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

/// A part of an image with pixels 0xffRRGGBB. Painting outside of it is cut off.
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

/// The mean colour of the tracks in every pixel column of the axis, by area.
std::vector<std::uint32_t> mean_colours(std::span<const ColourSums* const> tracks,
                                        const TimeAxis& axis, const BarGround& ground);

/// Fills every line of the band with these colours, from column 0 on.
void fill_columns(const Canvas& canvas, Band band, std::span<const std::uint32_t> colours);

/// Draws lines at 45 degrees in [left, right), `period` pixels apart. They start at the left edge,
/// so that they move with the area that they fill.
void hatch(const Canvas& canvas, double left, double right, Band band, Rgb colour, int period,
           int thickness);

/// Draws a hairline at the end of every bar that is wide enough for one, so that equal neighbours
/// stay apart.
void separate(const Canvas& canvas, Band band, const Bars& bars, const TimeAxis& axis, Rgb ground,
              int thickness);

struct MemoryScale {
    Bytes top;  ///< at the upper edge of the band
    std::optional<Bytes> limit;
    int y(Band band, Bytes held) const;
};

/// Draws the least and greatest memory of each column: lasting memory darker, red above the limit.
void paint_memory(const Canvas& canvas, Band band, const MemorySeries& series, const TimeAxis& axis,
                  const MemoryScale& scale, const Ground& ground);

/// Draws the same where there is no room: the fuller, the darker; red above the limit.
void paint_memory_heat(const Canvas& canvas, Band band, const MemorySeries& series,
                       const TimeAxis& axis, const MemoryScale& scale, const Ground& ground);

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

}  // namespace debubble::gui
