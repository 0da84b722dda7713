#include "trace/page/page_json.h"

#include <nlohmann/json.hpp>

#include "trace/page/bar_columns.h"
#include "trace/picture/step_parts.h"
#include "trace/picture/wording.h"

namespace debubble::page {
namespace {

using Json = nlohmann::ordered_json;
using picture::Device;
using picture::TimelineDocument;

/// The parts of a rank's step, with the colour of each in both themes.
Json parts_json(const Device& device) {
    Json parts = Json::array();
    for (const picture::StepPart& part : step_parts(device))
        parts.push_back(
            {part.name, part.time.count(), hex(part.light), hex(part.dark), part.idle ? 1 : 0});
    return parts;
}

Json peak_json(const TimelineDocument& document, const Device& device) {
    const MemoryPeak& peak = *device.peak;
    Json held = Json::array();
    for (const Bytes part : peak.held) held.push_back(part.count);
    return {{"at", (peak.at - document.range.begin).count()},
            {"held", std::move(held)},
            {"action", peak.action},
            {"op", peak.op},
            {"tip", picture::tip_of(peak)}};
}

Json device_json(const TimelineDocument& document, const Device& device) {
    const picture::GutterText words = gutter_text(document, device);
    Json streams = Json::array();
    for (const picture::Stream& stream : device.streams) streams.push_back(stream.name);
    Json stages = Json::array();
    for (const Stage stage : device.stages) stages.push_back(stage.index);
    Json one{{"rank", device.rank.index},
             {"name", words.name},
             {"copies", words.copies.value_or("")},
             {"idle", words.idle.value_or("")},
             {"exposed", words.exposed.value_or("")},
             {"memory", words.memory.value_or("")},
             {"too_much", words.too_much},
             {"stages", std::move(stages)},
             {"streams", std::move(streams)},
             {"parts", parts_json(device)}};
    if (device.peak != nullptr) one["peak"] = peak_json(document, device);
    return one;
}

}  // namespace

void write_document(const TimelineDocument& document, Json& json, Columns& columns) {
    json["title"] = document.caption.title;
    json["subtitle"] = document.caption.subtitle;
    json["length"] = document.range.length().count();
    json["memory_top"] = document.memory_top.count;
    json["memory_limit"] =
        document.memory_limit ? Json(document.memory_limit->count) : Json(nullptr);
    picture::Timeline timeline;
    // Points to the document without owning it, since the timeline does not outlive this function.
    timeline.main.document = picture::Document(picture::Document(), &document);
    timeline.main.colouring = std::make_shared<const picture::Colouring>();
    json["legend"] = legend_json(timeline);
    json["layouts"] = layouts_json(timeline);
    const BarNumbers numbers(document);
    json["devices"] = Json::array();
    for (const Device* device : numbers.devices())
        json["devices"].push_back(device_json(document, *device));
    write_bars(document, numbers, json, columns);
    write_gaps(document, numbers, columns);
    write_memory(document, numbers, json, columns);
    write_links(document, numbers, json, columns);
}

}  // namespace debubble::page
