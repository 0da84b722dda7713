#pragma once

#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "base/ids.h"
#include "gui/viewmodel/timeline/document.h"
#include "trace/statistics.h"

/// The spans and bubbles of a timeline that belong to a part of the bill.
namespace debubble::gui {

struct Highlight {
    std::shared_ptr<const std::vector<bool>> spans;  ///< whether each span does; null: no highlight
    ArrayBy<BubbleCause, bool, kBubbleCauses> causes{};  ///< causes of such bubbles
    bool any() const { return spans != nullptr; }
};

/// The actions of a part (BillPart::key) and its bubbles (BillPart::idle): the passes with exposed
/// communication of their tensor group for `exposed_tp`, the bubbles of that cause for `warm_up`,
/// the passes of the busiest rank for `uneven_stages`, nothing for an unknown part.
Highlight highlight_of(const TimelineDocument& document, std::string_view part,
                       std::optional<BubbleCause> idle = {});

}  // namespace debubble::gui
