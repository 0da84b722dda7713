#pragma once

#include <optional>
#include <string>
#include <vector>

#include "gui/viewmodel/timeline/scene.h"

/// The explanation of the selection in one sentence, with links to the named actions.
namespace debubble::gui {

struct Phrase {
    std::string words;
    std::optional<SpanRef> link = {};  ///< the named action
    friend bool operator==(const Phrase&, const Phrase&) = default;
};

/// The cause of a bubble and the action that ends it; or the length of an action, its exposed
/// communication and the action that it waited for: "Rank 1 waits 121 ms for a stage: 3F7 of rank
/// 3, which begins late, after 3B5." Empty if nothing is selected.
std::vector<Phrase> answer_line(const Scene& scene, const Selection& selection);
/// The same for a view, in which the totals of a measured area take precedence.
std::vector<Phrase> answer_line(const Scene& scene, const ViewState& state);

std::string text_of(const std::vector<Phrase>& line);  ///< without links

}  // namespace debubble::gui
