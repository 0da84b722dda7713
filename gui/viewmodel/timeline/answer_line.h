#pragma once

#include <optional>
#include <string>
#include <vector>

#include "gui/viewmodel/timeline/scene.h"

/// The selection in one sentence, with links to the actions that it names.
namespace debubble::gui {

struct Phrase {
    std::string words;
    std::optional<SpanRef> link = {};  ///< the action that these words name
    friend bool operator==(const Phrase&, const Phrase&) = default;
};

/// Why a bubble is there and what ends it, or what an action does, what of it is exposed and what
/// it waited for: "Rank 1 waits 121 ms for a stage: 3F7 of rank 3, which begins late, after 3B5."
/// Empty if nothing is selected.
std::vector<Phrase> answer_line(const Scene& scene, const Selection& selection);
/// The same of a view: a measured area's totals come first.
std::vector<Phrase> answer_line(const Scene& scene, const ViewState& state);

std::string text_of(const std::vector<Phrase>& line);  ///< without links

}  // namespace debubble::gui
