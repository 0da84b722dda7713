#include "trace/picture/rows.h"

#include <algorithm>

#include "trace/picture/document/similar_ranks.h"

namespace debubble::picture {
namespace {

constexpr int kHighest = 180;
constexpr int kLowest = 44;
constexpr int kLowestOfTwo = 76;  ///< least height of a row in a comparison
constexpr int kLowestOfMany = 14;
constexpr int kLowestOfManyTwo = 22;
constexpr int kCollapsed = 11;
constexpr int kFoldedLine = 2;
constexpr int kFoldedLineOfTwo = 6;  ///< three pixels for each side
constexpr int kLeastRun = 44;        ///< least height of a run whose lines can be higher
constexpr int kAfterRun = 4;
constexpr int kStream = 18;
constexpr int kStreamOfTwo = 26;
constexpr int kLinks = 32;
constexpr int kLinksOfTwo = 44;
constexpr int kHeatStrip = 4;
constexpr int kErrorStrip = 3;
constexpr int kMostStripHeight = 7;
constexpr double kMemoryShare = 0.4;
constexpr double kGhostShare = 0.22;

/// The devices that have rows of their own: one of each rank, or all of its replicas. A choice
/// without any existing rank is ignored.
std::vector<std::size_t> shown_devices(const TimelineDocument& document,
                                       const RowChoices& choices) {
    const bool any = std::ranges::any_of(
        document.devices, [&](const Device& device) { return choices.shows(device.rank.index); });
    std::vector<std::size_t> shown;
    for (std::size_t d = 0; d < document.devices.size(); ++d) {
        const Device& device = document.devices[d];
        if ((!any || choices.shows(device.rank.index)) &&
            (choices.replicas.contains(device.rank.index) ||
             document.device_of(device.rank) == &device))
            shown.push_back(d);
    }
    std::stable_partition(shown.begin(), shown.end(), [&](std::size_t d) {
        return choices.pinned.contains(document.devices[d].rank.index);
    });
    return shown;
}

/// Cuts a band of this height off the bottom of another one.
Band cut_bottom(Band& band, int height) {
    height = std::clamp(height, 0, band.height);
    band.height -= height;
    return {band.bottom(), height};
}

/// Cuts the lower half off a band, which keeps the upper one. In a high band, a line of pixels
/// separates them.
Band cut_lower_half(Band& band) {
    const int part = band.height >= 10 ? 1 : 0;
    const Band lower = cut_bottom(band, (band.height - part) / 2);
    cut_bottom(band, part);
    return lower;
}

/// Divides a row into the bars and the parts between and below them.
void divide_bars(Row& row, const RowNeeds& needs) {
    if (needs.comparison) {
        row.other = cut_bottom(row.bars, (row.bars.height - kErrorStrip) / 2);
        row.error = cut_bottom(row.bars, kErrorStrip);
    } else if (needs.ghost) {
        row.other =
            cut_bottom(row.bars, std::max(3, static_cast<int>(row.bars.height * kGhostShare)));
    }
}

void divide(Row& row, const RowNeeds& needs, bool has_streams) {
    const int gap = row.whole.height >= 30 ? 4 : row.whole.height >= 18 ? 2 : 1;
    row.bars = {row.whole.y, row.whole.height - gap};
    if (!row.collapsed && needs.memory) {
        const int height =
            row.heat ? kHeatStrip : static_cast<int>(row.whole.height * kMemoryShare);
        row.memory = cut_bottom(row.bars, needs.comparison && row.heat ? 2 * height : height);
        if (!row.heat) cut_bottom(row.bars, 1);
    }
    if (!row.collapsed && !row.heat && has_streams) {
        const int height = std::min(kMostStripHeight, row.bars.height / 5);
        if (needs.comparison) row.other_links = cut_bottom(row.bars, height);
        row.links = cut_bottom(row.bars, height);
        cut_bottom(row.bars, 1);
    }
    if (needs.comparison) row.other_memory = cut_lower_half(row.memory);
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
    if (needs.comparison) row.other = cut_lower_half(row.bars);
    return row;
}

class Layout {
public:
    Layout(const TimelineDocument& document, const RowChoices& choices, const RowNeeds& needs,
           int available)
        : document_(document),
          choices_(choices),
          needs_(needs),
          shown_(shown_devices(document, choices)),
          folds_(choices.fold_alike && shown_.size() > kManyDevices) {
        std::vector<Run> runs = runs_of_rows();
        int folded_height = 0;
        std::size_t rows = 0;
        for (const Run& run : runs)
            if (run.folded)
                folded_height += height_of(run);
            else
                rows += run.devices.size();
        many_ = rows > kManyDevices;
        height_ = device_height(rows, needs, std::max(available - folded_height, 0));
        for (const Run& run : runs)
            if (run.folded)
                add_folded(run.devices);
            else
                for (const std::size_t device : run.devices) add(device);
    }
    RowLayout made() {
        layout_.only = choices_.only;
        return std::move(layout_);
    }

private:
    struct Run {
        std::vector<std::size_t> devices;
        bool folded = false;
    };

    int rank_of(std::size_t device) const { return document_.devices[device].rank.index; }

    /// Ranks with any choice of the user are not folded with others.
    bool is_chosen(std::size_t device) const {
        const int rank = rank_of(device);
        return choices_.pinned.contains(rank) || choices_.streams.contains(rank) ||
               choices_.replicas.contains(rank) || choices_.link_use.contains(rank);
    }

    std::vector<Run> runs_of_rows() const {
        if (!folds_) return {{shown_, false}};
        std::vector<Run> runs;
        const auto flush = [&](std::vector<std::size_t>& others) {
            for (const SimilarRun& run : similar_runs(document_, others, needs_.other)) {
                const std::vector<std::size_t> devices(
                    others.begin() + static_cast<std::ptrdiff_t>(run.first),
                    others.begin() + static_cast<std::ptrdiff_t>(run.last + 1));
                const bool opened = choices_.unfolded.contains(rank_of(devices.front()));
                runs.push_back({devices, run.size() >= kFoldedRun && !opened});
            }
            others.clear();
        };
        std::vector<std::size_t> others;
        for (const std::size_t device : shown_) {
            if (!is_chosen(device)) {
                others.push_back(device);
                continue;
            }
            flush(others);
            runs.push_back({{device}, false});
        }
        flush(others);
        return runs;
    }

    std::size_t lines_of(std::size_t devices) const {
        return std::min(devices, needs_.comparison ? kMostLinesOfRun / 2 : kMostLinesOfRun);
    }
    /// A short run has higher lines, so that its text fits.
    int line_of(std::size_t lines) const {
        return std::max(needs_.comparison ? kFoldedLineOfTwo : kFoldedLine,
                        kLeastRun / static_cast<int>(lines));
    }
    int height_of(const Run& run) const {
        const std::size_t lines = lines_of(run.devices.size());
        return static_cast<int>(lines) * line_of(lines) + kAfterRun;
    }

    void add_folded(const std::vector<std::size_t>& devices) {
        const std::size_t lines = lines_of(devices.size());
        const int line = line_of(lines);
        for (std::size_t i = 0; i < lines; ++i) {
            Row row{.device = devices[i * devices.size() / lines],
                    .heat = true,
                    .collapsed = true,
                    .folded = true,
                    .whole = {layout_.height, line + (i + 1 == lines ? kAfterRun : 0)}};
            row.bars = {row.whole.y, line};
            if (needs_.comparison) row.other = cut_bottom(row.bars, line / 2);
            if (i == 0) {
                row.run_to = devices.back();
                row.run_height = static_cast<int>(lines) * line + kAfterRun;
            }
            layout_.height += row.whole.height;
            layout_.rows.push_back(row);
        }
    }

    void add(std::size_t d) {
        const Device& device = document_.devices[d];
        const int rank = device.rank.index;
        const bool pinned = choices_.pinned.contains(rank);
        const bool collapsed = choices_.collapsed.contains(rank);
        Row row{.device = d,
                .heat = many_,
                .pinned = pinned,
                .collapsed = collapsed,
                .whole = {layout_.height, collapsed ? kCollapsed : height_}};
        divide(row, needs_, !device.streams.empty());
        layout_.height += row.whole.height;
        layout_.rows.push_back(row);
        for (std::size_t s = 0; choices_.streams.contains(rank) && s < device.streams.size(); ++s) {
            layout_.rows.push_back(stream_row(d, s, pinned, needs_, layout_.height));
            layout_.height += layout_.rows.back().whole.height;
        }
        add_links(d, pinned);
        if (pinned) layout_.pinned_height = layout_.height;
    }

    void add_links(std::size_t d, bool pinned) {
        const auto& table = document_.link_table;
        if (!table || !(choices_.all_link_use || choices_.link_use.contains(rank_of(d)))) return;
        for (std::size_t of = 0; of < table->classes.size(); ++of) {
            Row row{.device = d,
                    .links_of = of,
                    .heat = true,
                    .pinned = pinned,
                    .whole = {layout_.height, needs_.comparison ? kLinksOfTwo : kLinks}};
            row.use = {row.whole.y, row.whole.height - 4};
            if (needs_.comparison) row.other_use = cut_lower_half(row.use);
            layout_.height += row.whole.height;
            layout_.rows.push_back(row);
        }
    }

    const TimelineDocument& document_;
    const RowChoices& choices_;
    const RowNeeds needs_;
    std::vector<std::size_t> shown_;
    bool folds_;
    bool many_ = false;
    int height_ = 0;
    RowLayout layout_;
};

}  // namespace

RowLayout lay_out(const TimelineDocument& document, const RowChoices& choices,
                  const RowNeeds& needs, int available) {
    return Layout(document, choices, needs, available).made();
}

const Row* RowLayout::row_at(int y) const {
    const auto next = std::ranges::upper_bound(rows, y, {}, [](const Row& r) { return r.whole.y; });
    if (next == rows.begin() || y >= std::prev(next)->whole.bottom()) return nullptr;
    return &*std::prev(next);
}

const Row* RowLayout::run_of(const Row& row) const {
    if (!row.folded) return nullptr;
    const Row* first = &row;
    while (!first->run_to) --first;
    return first;
}

const Row* RowLayout::row_of(std::size_t device) const {
    const auto found = std::ranges::find_if(
        rows, [&](const Row& row) { return row.device == device && row.is_own(); });
    return found == rows.end() ? nullptr : &*found;
}

}  // namespace debubble::picture
