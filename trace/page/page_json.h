#pragma once

#include <string>

#include <nlohmann/json_fwd.hpp>

#include "trace/page/columns.h"
#include "trace/picture/document/document.h"
#include "trace/picture/timeline.h"

/// The parts of a page that its script reads: a document, and the look of all timelines.
namespace debubble::page {

/// Writes a document as a page holds it: each thing that occurs once as JSON, and the fields of
/// every action as columns, in the order in which assets/plan.js reads them.
void write_document(const picture::TimelineDocument& document, nlohmann::ordered_json& json,
                    Columns& columns);

/// The colours and words that all timelines share, by theme: those of trace/picture for paints,
/// causes of bubbles, memory and the ground, so that the script of a page has none of its own.
nlohmann::ordered_json look_json();

/// The legend of a document's picture as entries: the words, and a swatch in both themes.
nlohmann::ordered_json legend_json(const picture::Timeline& timeline);

/// The bands of a row at some heights, as pictures lay them out.
nlohmann::ordered_json layouts_json(const picture::Timeline& timeline);

}  // namespace debubble::page
