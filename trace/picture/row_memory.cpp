#include <algorithm>
#include <cmath>

#include "trace/picture/row_shapes.h"

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

/// Draws memory where there is no room: the fuller, the darker; red above the limit.
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

/// Draws the least and greatest memory of each column: lasting memory darker, red above the limit.
void RowShapes::memory_curve(const Lane& lane) {
    const Ground& ground = view_.ground();
    const MemoryScale scale = timeline_.memory_scale();
    const Rect band{0, double(lane.band.y), width_, double(lane.band.height)};
    const auto count = static_cast<std::size_t>(std::lround(width_ * view_.means.columns));
    std::vector<float> greatest(count);
    std::vector<float> least(count);
    std::vector<float> lasting(count);
    const auto y = [&](Bytes held) { return static_cast<float>(scale.y(lane.band, held)); };
    bool too_much = false;
    bool varies = false;
    MemorySeries::Walk walk(lane.device.memory);
    for_each_column(lane.axis.scaled(view_.means.columns), [&](int column, TimeRange range) {
        const auto x = static_cast<std::size_t>(column);
        const MemorySeries::Extent held = walk.over(range);
        greatest[x] = y(held.greatest);
        least[x] = y(held.least);
        lasting[x] = y(held.lasting);
        too_much = too_much || (scale.limit && held.greatest > *scale.limit);
        varies = varies || held.least != held.greatest;
    });
    Steps curve{band, {}, ground.memory_edge, ground.lane};
    if (!varies)
        curve.levels = {{greatest, ground.memory_live}};
    else
        curve.levels = {{greatest, ground.memory_varying}, {std::move(least), ground.memory_live}};
    curve.levels.push_back({std::move(lasting), ground.memory_lasting});
    out_.emplace_back(std::move(curve));
    if (!too_much) return;
    const double limit = scale.y(lane.band, *scale.limit);
    out_.emplace_back(
        Steps{{0, band.y, width_, limit - band.y}, {{std::move(greatest), ground.warning}}});
}

}  // namespace debubble::picture
