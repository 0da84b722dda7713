#include "trace/picture/raster.h"

#include <algorithm>
#include <cmath>

namespace debubble::picture {
namespace {

int column_of(double x) {
    return static_cast<int>(std::lround(x));
}

Band clipped(const Canvas& canvas, Band band) {
    const int top = std::clamp(band.y, 0, canvas.height);
    return {top, std::clamp(band.bottom(), top, canvas.height) - top};
}

int columns_of(const TimeAxis& axis) {
    return static_cast<int>(std::lround(axis.width()));
}

}  // namespace

void fill(const Canvas& canvas, int left, int right, Band band, Rgb colour) {
    left = std::clamp(left, 0, canvas.width);
    right = std::clamp(right, left, canvas.width);
    band = clipped(canvas, band);
    for (int y = band.y; y < band.bottom(); ++y)
        std::fill(canvas.line(y) + left, canvas.line(y) + right, pixel(colour));
}

std::vector<std::uint32_t> mean_colours(std::span<const ColourSums* const> tracks,
                                        const TimeAxis& axis, const BarGround& ground) {
    struct Track {
        ColourSums::Walk walk;
        ColourArea left;
    };
    std::vector<Track> walks;
    for (const ColourSums* sums : tracks) {
        Track& track = walks.emplace_back(Track{ColourSums::Walk(*sums), {}});
        track.left = track.walk.until(axis.shown().begin);
    }
    std::vector<std::uint32_t> colours(columns_of(axis));
    for_each_column(axis, [&](int x, TimeRange column) {
        ColourArea area;
        for (Track& track : walks) {
            const ColourArea right = track.walk.until(column.end);
            area += right - track.left;
            track.left = right;
        }
        const Rgb under = column.meets(ground.step) ? ground.idle : ground.outside;
        colours[x] = area.covered == 0 ? pixel(under) : pixel(blend(area, column.length(), under));
    });
    return colours;
}

void fill_columns(const Canvas& canvas, Band band, std::span<const std::uint32_t> colours) {
    band = clipped(canvas, band);
    const auto width = std::min<std::size_t>(colours.size(), canvas.width);
    for (int y = band.y; y < band.bottom(); ++y)
        std::copy_n(colours.begin(), width, canvas.line(y));
}

void hatch(const Canvas& canvas, double left, double right, Band band, Rgb colour, int period,
           int thickness) {
    const int origin = column_of(left);
    const int first = std::max(origin, 0);
    const int last = std::min(column_of(right), canvas.width);
    const int top = band.y;
    band = clipped(canvas, band);
    for (int y = band.y; y < band.bottom(); ++y) {
        // Column x is on a line where (x - origin) + (y - top) is a multiple of the period.
        const int phase = (y - top) % period;
        const int before = (first - origin + phase) % period;
        for (int x = first - before; x < last; x += period)
            for (int i = std::max(x, first); i < std::min(x + thickness, last); ++i)
                canvas.line(y)[i] = pixel(colour);
    }
}

double MemoryScale::y(Band band, Bytes held) const {
    const double share =
        static_cast<double>(held.count) / static_cast<double>(std::max<std::int64_t>(top.count, 1));
    return band.bottom() - band.height * std::clamp(share, 0.0, 1.0);
}

void fill_steps(const Canvas& canvas, Band band, std::span<const StepLevel> levels,
                std::optional<Rgb> ground) {
    struct Extent {
        int highest = 0;
        int lowest = 0;
    };
    std::vector<Extent> extents;
    int width = canvas.width;
    for (const StepLevel& level : levels) {
        if (level.tops.empty()) return;
        width = std::min(width, static_cast<int>(level.tops.size()));
        const auto [highest, lowest] = std::ranges::minmax(level.tops);
        extents.push_back({highest, lowest});
    }
    band = clipped(canvas, band);
    for (int y = band.y; y < band.bottom(); ++y) {
        std::uint32_t* const line = canvas.line(y);
        // A level that covers the whole line hides those before it.
        std::size_t next = levels.size();
        while (next > 0 && y < extents[next - 1].lowest) --next;
        if (next > 0)
            std::fill_n(line, width, pixel(levels[next - 1].fill));
        else if (ground)
            std::fill_n(line, width, pixel(*ground));
        for (; next < levels.size(); ++next) {
            if (y < extents[next].highest) continue;
            const int* const tops = levels[next].tops.data();
            const std::uint32_t inside = pixel(levels[next].fill);
            for (int x = 0; x < width; ++x) line[x] = y >= tops[x] ? inside : line[x];
        }
    }
}

void draw_edge(const Canvas& canvas, Band band, std::span<const int> tops, Rgb ink) {
    const int width = std::min(static_cast<int>(tops.size()), canvas.width);
    band = clipped(canvas, band);
    for (int x = 0; x < width; ++x)
        if (band.y <= tops[x] && tops[x] < band.bottom()) canvas.line(tops[x])[x] = pixel(ink);
}

void stamp(const Canvas& canvas, int left, int top, const Mask& mask, Rgb ink) {
    const int first = std::max(-left, 0);
    const int last = std::min(mask.width, canvas.width - left);
    for (int y = std::max(-top, 0); y < std::min(mask.height, canvas.height - top); ++y) {
        const std::uint8_t* coverage = mask.coverage.data() + std::ptrdiff_t{y} * mask.width;
        std::uint32_t* line = canvas.line(top + y) + left;
        for (int x = first; x < last; ++x) {
            const std::uint32_t part = coverage[x];
            if (part == 0) continue;
            const auto channel = [&](unsigned shift, std::uint32_t over) {
                const std::uint32_t under = line[x] >> shift & 0xffU;
                return (under * (255 - part) + over * part + 127) / 255 << shift;
            };
            line[x] =
                0xff000000U | channel(16, ink.red) | channel(8, ink.green) | channel(0, ink.blue);
        }
    }
}

std::vector<float> utilisation(const TimelineDocument& document, const Colouring& colouring,
                               const TimeAxis& axis) {
    std::vector<float> shares(columns_of(axis));
    int devices = 0;
    for (std::size_t d = 0; d < document.devices.size(); ++d) {
        if (document.devices[d].statistics == nullptr) continue;
        ++devices;
        ColourSums::Walk walk(colouring.devices[d].work);
        std::int64_t left = walk.until(axis.shown().begin).covered;
        for_each_column(axis, [&](int x, TimeRange column) {
            const std::int64_t right = walk.until(column.end).covered;
            shares[x] +=
                static_cast<float>(right - left) / static_cast<float>(column.length().count());
            left = right;
        });
    }
    for (float& share : shares) share /= static_cast<float>(std::max(devices, 1));
    return shares;
}

}  // namespace debubble::picture
