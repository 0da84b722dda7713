#pragma once

#include <string>

#include "sim/grid/search.h"

namespace debubble::gui {

/// What a search found, in a sentence or two: "Best of 1,248 plans: 68,792 tokens/s by tensor 4,
/// ...". `plan` is the best one in words. Without one that fits, why the others are none.
std::string search_words(const sim::SearchResult& found, const std::string& plan,
                         std::span<const std::string> keys);

}  // namespace debubble::gui
