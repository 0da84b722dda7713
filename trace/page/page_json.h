#pragma once

#include <string>

#include <nlohmann/json_fwd.hpp>

#include "trace/page/columns.h"
#include "trace/picture/document/document.h"
#include "trace/picture/timeline.h"

/// The data of a page's script: a document, and the look of all timelines.
namespace debubble::page {

/// Writes a document: values that occur once as JSON, and the fields of every action as columns, in
/// the order in which assets/plan.js reads them.
void write_document(const picture::TimelineDocument& document, nlohmann::ordered_json& json,
                    Columns& columns);

/// The common colours and words of all timelines, by theme: those of trace/picture for paints,
/// causes of bubbles, memory and the ground. The script of a page has none of its own.
nlohmann::ordered_json look_json();

/// The entries of a picture's legend: the words, and a swatch in both themes.
nlohmann::ordered_json legend_json(const picture::Timeline& timeline);

/// The bands of a row at some heights, in the layout of pictures.
nlohmann::ordered_json layouts_json(const picture::Timeline& timeline);

}  // namespace debubble::page
