#pragma once

#include <string>
#include <vector>

#include "gui/viewmodel/timeline/scene.h"
#include "gui/viewmodel/timeline/wording.h"

/// The work in a dragged area: a range of time on some rows.
namespace debubble::gui {

struct DraggedArea {
    TimeRange range;  ///< on the axis
    int top = 0;      ///< pixels below the top of the first row
    int bottom = 0;
};

/// The time of one kind of work, or of one cause of idleness, in an area.
struct AreaTotal {
    std::string kind;  ///< "forward", "exposed communication", "idle: waits for a stage"
    Duration all{};
    struct OfRank {
        std::string device;
        Duration time{};
        friend bool operator==(const OfRank&, const OfRank&) = default;
    };
    std::vector<OfRank> ranks;  ///< ranks with such time, in the rows' order
};

/// The totals of A's devices whose rows the area overlaps, the greatest first. They add up to the
/// area, except for time outside of the step and for other replicas, whose causes are not known.
std::vector<AreaTotal> totals_of(const Scene& scene, const DraggedArea& area);

/// The same as details, each kind with its ranks.
std::vector<Detail> details_of_totals(const Scene& scene, const DraggedArea& area);

/// The same in a sentence: "12.3 ms of 4 ranks: forward 40.1 %, backward 35.0 %".
std::string sentence_of_totals(const Scene& scene, const DraggedArea& area);

}  // namespace debubble::gui
