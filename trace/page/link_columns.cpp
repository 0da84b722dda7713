#include <algorithm>
#include <cmath>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "trace/page/bar_columns.h"
#include "trace/picture/rows.h"
#include "trace/picture/shapes/row_shapes.h"

/// The use of links by actions. A page draws its lanes on demand, so it has stretches instead of
/// curves.
namespace debubble::page {
namespace {

using Json = nlohmann::ordered_json;
using picture::LinkTable;
using picture::TimelineDocument;

bool is_measured(const LinkTable& table) {
    return !table.classes.front().known_limits;
}

/// The stretches of all kinds of use: class of links, begin and end as shares of the action's time,
/// busy nanoseconds of the links. Measured actions differ from each other and have one kind of use,
/// whose busy time is that of the action's bytes at the greatest rate.
Json uses_json(const LinkTable& table) {
    if (is_measured(table)) return {Json::array(), {{0, 0, 1, nullptr}}};
    constexpr double kParts = 1e7;
    const auto rounded = [](double share) { return std::round(share * kParts) / kParts; };
    Json all = Json::array();
    for (const picture::LinkStretches& use : table.uses) {
        Json stretches = Json::array();
        for (const picture::LinkStretch& stretch : use)
            stretches.push_back({stretch.of, rounded(stretch.begin), rounded(stretch.end),
                                 std::round(1e9 * stretch.busy_s)});
        all.push_back(std::move(stretches));
    }
    return all;
}

/// The words left of a device's lanes: the class, and the used share of its limit.
Json words_json(const TimelineDocument& document, const picture::Device& device) {
    Json lanes = Json::array();
    for (std::size_t of = 0; of < document.link_table->classes.size(); ++of) {
        const picture::LinkClass& links = document.link_table->classes[of];
        lanes.push_back({links.title(), picture::link_words(document, device, of),
                         links.limits[device.rank.index].value, links.known_limits ? 1 : 0});
    }
    return lanes;
}

/// A row of links in the layout of pictures: its height, its band, and the y of the limit.
Json row_json(const TimelineDocument& document) {
    const picture::RowLayout layout =
        lay_out(document, {.all_link_use = true}, picture::RowNeeds{}, 0);
    const auto row = std::ranges::find_if(
        layout.rows, [](const picture::Row& one) { return one.links_of.has_value(); });
    if (row == layout.rows.end()) return nullptr;
    return {{"height", row->whole.height},
            {"use", {row->use.y - row->whole.y, row->use.height}},
            {"limit", picture::kLimitRoom}};
}

}  // namespace

void write_links(const TimelineDocument& document, const BarNumbers& numbers, Json& json,
                 Columns& columns) {
    Column uses;
    const LinkTable* table = document.link_table.get();
    if (table != nullptr) {
        json["links"] = row_json(document);
        json["links"]["uses"] = uses_json(*table);
        json["links"]["lanes"] = Json::array();
        for (const picture::Device* device : numbers.devices()) {
            json["links"]["lanes"].push_back(words_json(document, *device));
            const auto add = [&](const picture::Bars& bars) {
                for (const picture::Bar& bar : bars) {
                    const std::uint32_t use = table->use_of_span[bar.span];
                    uses.add(is_measured(*table) && use > 0 ? 1 : use);
                }
            };
            add(device->work);
            for (const picture::Stream& stream : device->streams) add(stream.bars);
        }
    }
    if (table == nullptr) json["no_links"] = picture::why_no_links(document);
    columns.append(uses);
}

}  // namespace debubble::page
