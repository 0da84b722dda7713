#pragma once

#include <nlohmann/json_fwd.hpp>

#include "trace/picture/timeline.h"

namespace debubble::page {

/// The colours and words that all timelines share, by theme: what trace/picture says of paints,
/// causes of bubbles, memory and the ground, so that the script of a page has none of its own.
nlohmann::ordered_json look_json();

/// The legend of a document's picture as entries: the words, and a swatch in both themes.
nlohmann::ordered_json legend_json(const picture::Timeline& timeline);

/// The bands of a row at some heights, as pictures lay them out.
nlohmann::ordered_json layouts_json(const picture::Timeline& timeline);

}  // namespace debubble::page
