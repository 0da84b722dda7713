#include "gui/viewmodel/timeline/area_totals.h"

#include <algorithm>
#include <map>

#include <fmt/format.h>

#include "gui/viewmodel/timeline/wording.h"
#include "gui/viewmodel/timeline/words.h"
#include "text/wording.h"

namespace debubble::gui {
namespace {

using text::time_text;

/// The devices of A with rows in the area, each once, in the rows' order.
std::vector<const Device*> devices_in(const Scene& scene, const DraggedArea& area) {
    std::vector<const Device*> devices;
    const auto [top, bottom] = std::minmax(area.top, area.bottom);
    for (const Row& row : scene.layout.rows) {
        if (row.whole.bottom() <= top || row.whole.y > bottom) continue;
        const Device* device = scene.device(row, Side::A);
        if (device != nullptr && std::ranges::find(devices, device) == devices.end())
            devices.push_back(device);
    }
    return devices;
}

Duration overlap(Instant begin, Instant end, TimeRange range) {
    return std::max(std::min(end, range.end) - std::max(begin, range.begin), Duration{});
}

/// Times by kind, in the order of their first occurrence.
class Table {
public:
    void add(std::string_view kind, const Device& device, Duration time) {
        if (time <= Duration{}) return;
        auto total = std::ranges::find(totals_, kind, &AreaTotal::kind);
        if (total == totals_.end()) {
            totals_.push_back({std::string(kind), {}, {}});
            total = std::prev(totals_.end());
        }
        total->all += time;
        if (total->ranks.empty() || total->ranks.back().device != device.name)
            total->ranks.push_back({device.name, {}});
        total->ranks.back().time += time;
    }
    std::vector<AreaTotal> greatest_first() {
        std::ranges::stable_sort(totals_, std::ranges::greater{}, &AreaTotal::all);
        return std::move(totals_);
    }

private:
    std::vector<AreaTotal> totals_;
};

/// Adds the passes of a device, and their exposed parts as communication, in proportion if the area
/// cuts a pass.
void add_work(Table& table, const TimelineDocument& document, const Device& device,
              TimeRange range) {
    ArrayBy<Paint, Duration, kPaints> by_paint{};
    Duration exposed{};
    const auto [first, last] = bars_in(device.work, range);
    for (std::size_t i = first; i < last; ++i) {
        const Bar& bar = device.work[i];
        const Span& span = document.span(bar.span);
        const Duration inside = overlap(bar.begin, bar.end, range);
        const Duration out =
            span.exposed > Duration{} && span.length() > Duration{}
                ? from_seconds(seconds(span.exposed) * seconds(inside) / seconds(span.length()))
                : Duration{};
        exposed += std::min(out, inside);
        const Duration rest = inside - std::min(out, inside);
        if (const auto* both = std::get_if<Overlap>(&span.action)) {
            by_paint[paint_of(Action(both->first))] += rest / 2;
            by_paint[paint_of(Action(both->second))] += rest - rest / 2;
        } else {
            by_paint[paint_of(span.action)] += rest;
        }
    }
    for (std::size_t paint = 0; paint < kPaints; ++paint)
        table.add(name_of(static_cast<Paint>(paint)), device, by_paint[paint]);
    const auto [from, to] = bars_in(device.between, range);
    for (std::size_t i = from; i < to; ++i)
        exposed += overlap(device.between[i].begin, device.between[i].end, range);
    table.add(said("details", "exposed communication"), device, exposed);
}

void add_idle(Table& table, const TimelineDocument& document, const Device& device,
              TimeRange range) {
    IdleByCause idle{};
    for (std::size_t i = device.first_bubble; i < device.last_bubble; ++i) {
        const Bubble& bubble = document.bubble(i);
        if (bubble.begin >= range.end) break;
        idle[bubble.cause] += overlap(bubble.begin, bubble.end, range);
    }
    for (std::size_t cause = 0; cause < kBubbleCauses; ++cause)
        table.add(filled(said("details", "idle: {}"), said_cause(static_cast<BubbleCause>(cause))),
                  device, idle[cause]);
}

std::string share_text(Duration part, Duration all) {
    return text::percent(seconds(part) / std::max(seconds(all), 1e-12));
}

}  // namespace

std::vector<AreaTotal> totals_of(const Scene& scene, const DraggedArea& area) {
    Table table;
    if (!scene.main) return {};
    const Duration shift = scene.main.shift;
    const TimeRange range{area.range.begin - shift, area.range.end - shift};
    for (const Device* device : devices_in(scene, area)) {
        add_work(table, *scene.main.document, *device, range);
        add_idle(table, *scene.main.document, *device, range);
    }
    return table.greatest_first();
}

std::vector<Detail> details_of_totals(const Scene& scene, const DraggedArea& area) {
    if (!scene.main) return {};
    const auto count = static_cast<Duration::rep>(devices_in(scene, area).size());
    const Duration all = area.range.length() * count;
    std::vector<Detail> details;
    for (const AreaTotal& total : totals_of(scene, area)) {
        Detail detail{total.kind,
                      fmt::format("{}, {}", time_text(total.all), share_text(total.all, all))};
        for (const AreaTotal::OfRank& rank : total.ranks)
            detail.parts.push_back(
                {rank.device, fmt::format("{}, {}", time_text(rank.time),
                                          share_text(rank.time, area.range.length()))});
        details.push_back(std::move(detail));
    }
    return details;
}

std::string sentence_of_totals(const Scene& scene, const DraggedArea& area) {
    if (!scene.main) return {};
    const std::size_t count = devices_in(scene, area).size();
    if (count == 0) return {};
    const Duration all = area.range.length() * static_cast<Duration::rep>(count);
    std::string words =
        count == 1
            ? filled(said("details", "{} of 1 rank: "), time_text(area.range.length()))
            : filled(said("details", "{} of {} ranks: "), time_text(area.range.length()), count);
    bool first = true;
    for (const AreaTotal& total : totals_of(scene, area)) {
        words += fmt::format("{}{} {}", first ? "" : ", ", total.kind, share_text(total.all, all));
        first = false;
    }
    return words;
}

}  // namespace debubble::gui
