#include "trace/picture/rows.h"

#include <algorithm>

namespace debubble::picture {
namespace {

constexpr int kHighest = 180;
constexpr int kLowest = 44;
constexpr int kLowestOfTwo = 76;  ///< least height of a row in a comparison
constexpr int kLowestOfMany = 14;
constexpr int kLowestOfManyTwo = 22;
constexpr int kCollapsed = 11;
constexpr int kStream = 18;
constexpr int kStreamOfTwo = 26;
constexpr int kHeatStrip = 4;
constexpr int kErrorStrip = 3;
constexpr int kMostStripHeight = 7;
constexpr double kMemoryShare = 0.4;
constexpr double kGhostShare = 0.22;

/// The devices that have rows of their own: one of each rank, or all of its replicas.
std::vector<std::size_t> shown_devices(const TimelineDocument& document,
                                       const RowChoices& choices) {
    std::vector<std::size_t> shown;
    for (std::size_t d = 0; d < document.devices.size(); ++d) {
        const Device& device = document.devices[d];
        if (choices.replicas.contains(device.rank.index) ||
            document.device_of(device.rank) == &device)
            shown.push_back(d);
    }
    std::stable_partition(shown.begin(), shown.end(), [&](std::size_t d) {
        return choices.pinned.contains(document.devices[d].rank.index);
    });
    return shown;
}

/// Cuts a band of this height off the bottom of another.
Band take_bottom(Band& band, int height) {
    height = std::clamp(height, 0, band.height);
    band.height -= height;
    return {band.bottom(), height};
}

/// Cuts the lower half off a band, which keeps the upper one. A line separates them where there is
/// room.
Band take_half(Band& band) {
    const int part = band.height >= 10 ? 1 : 0;
    const Band lower = take_bottom(band, (band.height - part) / 2);
    take_bottom(band, part);
    return lower;
}

/// Divides a row into the bars and the parts between and below them.
void divide_bars(Row& row, const RowNeeds& needs) {
    if (needs.comparison) {
        row.other = take_bottom(row.bars, (row.bars.height - kErrorStrip) / 2);
        row.error = take_bottom(row.bars, kErrorStrip);
    } else if (needs.ghost) {
        row.other =
            take_bottom(row.bars, std::max(3, static_cast<int>(row.bars.height * kGhostShare)));
    }
}

void divide(Row& row, const RowNeeds& needs, bool has_streams) {
    const int gap = row.whole.height >= 30 ? 4 : row.whole.height >= 18 ? 2 : 1;
    row.bars = {row.whole.y, row.whole.height - gap};
    if (!row.collapsed && needs.memory) {
        const int height =
            row.heat ? kHeatStrip : static_cast<int>(row.whole.height * kMemoryShare);
        row.memory = take_bottom(row.bars, needs.comparison && row.heat ? 2 * height : height);
        if (!row.heat) take_bottom(row.bars, 1);
    }
    if (!row.collapsed && !row.heat && has_streams) {
        const int height = std::min(kMostStripHeight, row.bars.height / 5);
        if (needs.comparison) row.other_links = take_bottom(row.bars, height);
        row.links = take_bottom(row.bars, height);
        take_bottom(row.bars, 1);
    }
    if (needs.comparison) row.other_memory = take_half(row.memory);
    divide_bars(row, needs);
}

int device_height(std::size_t devices, const RowNeeds& needs, int available) {
    const int share = available / static_cast<int>(std::max<std::size_t>(devices, 1));
    const int lowest = devices > kManyDevices
                           ? (needs.comparison ? kLowestOfManyTwo : kLowestOfMany)
                           : (needs.comparison ? kLowestOfTwo : kLowest);
    return std::clamp(share, lowest, kHighest);
}

Row stream_row(std::size_t device, std::size_t stream, bool pinned, const RowNeeds& needs, int y) {
    const int height = needs.comparison ? kStreamOfTwo : kStream;
    Row row{.device = device,
            .stream = stream,
            .pinned = pinned,
            .whole = {y, height},
            .bars = {y, height - 2}};
    if (needs.comparison) row.other = take_half(row.bars);
    return row;
}

}  // namespace

RowLayout lay_out(const TimelineDocument& document, const RowChoices& choices,
                  const RowNeeds& needs, int available) {
    RowLayout layout;
    const std::vector<std::size_t> shown = shown_devices(document, choices);
    const int height = device_height(shown.size(), needs, available);
    for (const std::size_t d : shown) {
        const Device& device = document.devices[d];
        const int rank = device.rank.index;
        const bool pinned = choices.pinned.contains(rank);
        const bool collapsed = choices.collapsed.contains(rank);
        Row row{.device = d,
                .heat = shown.size() > kManyDevices,
                .pinned = pinned,
                .collapsed = collapsed,
                .whole = {layout.height, collapsed ? kCollapsed : height}};
        divide(row, needs, !device.streams.empty());
        layout.height += row.whole.height;
        layout.rows.push_back(row);
        for (std::size_t s = 0; choices.streams.contains(rank) && s < device.streams.size(); ++s) {
            layout.rows.push_back(stream_row(d, s, pinned, needs, layout.height));
            layout.height += layout.rows.back().whole.height;
        }
        if (pinned) layout.pinned_height = layout.height;
    }
    return layout;
}

const Row* RowLayout::row_at(int y) const {
    const auto next = std::ranges::upper_bound(rows, y, {}, [](const Row& r) { return r.whole.y; });
    if (next == rows.begin() || y >= std::prev(next)->whole.bottom()) return nullptr;
    return &*std::prev(next);
}

const Row* RowLayout::row_of(std::size_t device) const {
    const auto found = std::ranges::find_if(
        rows, [&](const Row& row) { return row.device == device && !row.stream; });
    return found == rows.end() ? nullptr : &*found;
}

}  // namespace debubble::picture
