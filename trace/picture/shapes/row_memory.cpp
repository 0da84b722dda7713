#include <algorithm>
#include <array>
#include <cmath>

#include <fmt/format.h>

#include "trace/picture/shapes/row_shapes.h"

/// The memory of a row's device over time.
namespace debubble::picture {
namespace {

constexpr int kHeatShades = 256;

}  // namespace

void RowShapes::memory(const Row& row, Side side) {
    const Band band = side == Side::A ? row.memory : row.other_memory;
    const Device* device = band.height > 0 ? timeline_.device(row, side) : nullptr;
    if (device == nullptr) return;
    const Lane where = lane(side, *device, band);
    if (device->memory.empty())
        box({0, double(band.y), width_, double(band.height)}, view_.ground().lane);
    else if (row.heat)
        memory_heat(where);
    else
        memory_curve(where);
}

/// Draws memory as a strip of colour: the fuller, the darker; red above the limit.
void RowShapes::memory_heat(const Lane& lane) {
    const Ground& ground = view_.ground();
    const MemoryScale scale = timeline_.memory_scale();
    const Bytes full = scale.limit.value_or(scale.top);
    const double per_byte =
        (kHeatShades - 1) / static_cast<double>(std::max<std::int64_t>(full.count, 1));
    std::vector<std::uint32_t> shades;
    for (int i = 0; i < kHeatShades; ++i)
        shades.push_back(pixel(
            mix(ground.lane, ground.memory_edge, static_cast<double>(i) / (kHeatShades - 1))));
    std::vector<std::uint32_t> colours;
    MemorySeries::Walk walk(lane.device.memory);
    for_each_column(lane.axis.scaled(view_.means.columns), [&](int, TimeRange column) {
        const Bytes held = walk.over(column).greatest;
        const double shade = std::clamp(static_cast<double>(held.count) * per_byte, 0.0,
                                        static_cast<double>(kHeatShades - 1));
        colours.push_back(scale.limit && held > full ? pixel(ground.warning)
                                                     : shades[static_cast<std::size_t>(shade)]);
    });
    columns(lane.band, std::move(colours));
}

/// Draws the greatest memory of each column with the classes stacked, the longest-lived at the
/// bottom; red above the limit.
void RowShapes::memory_curve(const Lane& lane) {
    const Ground& ground = view_.ground();
    const MemoryScale scale = timeline_.memory_scale();
    const Rect band{0, double(lane.band.y), width_, double(lane.band.height)};
    std::array<std::vector<float>, kMemoryClasses> tops;
    std::array<bool, kMemoryClasses> occurs{};
    std::vector<float> greatest;
    bool too_much = false;
    MemorySeries::Walk walk(lane.device.memory);
    for_each_column(lane.axis.scaled(view_.means.columns), [&](int, TimeRange range) {
        const MemorySeries::Extent held = walk.over(range);
        double sum = 0;
        for (std::size_t place = 0; place < kMemoryClasses; ++place) {
            const float bytes = held.by_class[kStacked[place]];
            sum += static_cast<double>(bytes);
            occurs[place] = occurs[place] || bytes > 0;
            const Bytes below{static_cast<std::int64_t>(sum)};
            tops[place].push_back(static_cast<float>(scale.y(lane.band, below)));
        }
        greatest.push_back(static_cast<float>(scale.y(lane.band, held.greatest)));
        too_much = too_much || (scale.limit && held.greatest > *scale.limit);
    });
    Steps curve{band, {}, ground.memory_edge, ground.lane};
    for (std::size_t place = kMemoryClasses; place-- > 0;)
        if (occurs[place])
            curve.levels.push_back({std::move(tops[place]), ground.memory[kStacked[place]]});
    out_.emplace_back(std::move(curve));
    if (too_much) {
        const double limit = scale.y(lane.band, *scale.limit);
        out_.emplace_back(
            Steps{{0, band.y, width_, limit - band.y}, {{std::move(greatest), ground.warning}}});
    }
    memory_axis(band, scale);
}

/// The upper end of the scale, in the lane's corner if the lane is high enough.
void RowShapes::memory_axis(Rect band, const MemoryScale& scale) {
    constexpr double kLeastTall = 3.2;  // letters
    if (band.height < kLeastTall * view_.letter()) return;
    const std::string words = fmt::format("{:.4g} GiB", gib(scale.top));
    const double size = 0.9 * view_.letter();
    const double width = static_cast<double>(words.size()) * view_.means.labels.digit * size;
    out_.emplace_back(Text{{band.x + width / 2 + 3, band.y + size / 2 + 2},
                           words,
                           size,
                           view_.ground().faint_text,
                           Anchor::Middle});
}

}  // namespace debubble::picture
