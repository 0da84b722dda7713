#pragma once

#include <array>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "gui/viewmodel/timeline/document.h"
#include "trace/statistics.h"

/// What of a timeline belongs to a part of the bill.
namespace debubble::gui {

struct Lit {
    std::shared_ptr<const std::vector<bool>> spans;  ///< whether each does; null: nothing is lit
    std::array<bool, kBubbleCauses> causes{};        ///< of bubbles that do
    bool any() const { return spans != nullptr; }
};

/// The actions that a part (BillPart::key) is made of, and its bubbles (BillPart::idle): of
/// `exposed_tp` the passes that wait for their tensor group, of `warm_up` the bubbles of that
/// cause. Of `uneven_stages` the passes of the rank that works longest, and of an unknown part
/// nothing.
Lit lit_by(const TimelineDocument& document, std::string_view part,
           std::optional<BubbleCause> idle = {});

}  // namespace debubble::gui
