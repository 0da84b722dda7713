#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "gui/viewmodel/timeline/scene.h"

namespace debubble::gui {

/// The hits of a search, by time, or the mistake of the query.
struct SearchResult {
    std::vector<Selection> hits;
    std::string mistake;
};

/// Finds the spans and bubbles that match all words, in any order and case:
///
///   2F0, 1SEND_F3, optimizer_step   an action, in its text form
///   F, B, I, W, recompute, send     a kind of action
///   rank 3, stage 2, mb 7           where and which microbatch
///   bubble, bubble link             idle time, of one cause
///   > 5 ms, <= 100 us               how long
SearchResult search(const TimelineDocument& document, std::string_view query);

}  // namespace debubble::gui
