#pragma once

#include <cstddef>
#include <optional>
#include <set>
#include <vector>

#include "gui/viewmodel/timeline/document.h"
#include "gui/viewmodel/timeline/raster.h"

/// Which rows a timeline has, and where.
namespace debubble::gui {

/// Ranks, by index, that a person has opened, closed or pinned. A plan that is simulated again
/// keeps them.
struct RowChoices {
    std::set<int> streams = {};    ///< whose streams have rows of their own
    std::set<int> replicas = {};   ///< whose replicas have rows of their own
    std::set<int> collapsed = {};  ///< drawn thin
    std::set<int> pinned = {};     ///< stay at the top
    friend bool operator==(const RowChoices&, const RowChoices&) = default;
};

/// What the rows have room for besides bars.
struct RowNeeds {
    bool memory = false;
    bool ghost = false;       ///< a plan below the bars
    bool comparison = false;  ///< two half-lanes and the error between them
};

/// In pixels of the window, from the top of the first row.
struct Row {
    std::size_t device = 0;                  ///< in TimelineDocument::devices
    std::optional<std::size_t> stream = {};  ///< of that device; nothing for the device's own row
    bool heat = false;                       ///< memory is a strip of colour
    bool pinned = false;
    bool collapsed = false;
    Band whole = {};
    Band bars = {};   ///< of a comparison: A's
    Band error = {};  ///< height 0, as of all that follow, where there is none
    Band other = {};  ///< B's, or the ghost's; so are the other_ bands below
    Band links = {};  ///< messages and collectives
    Band other_links = {};
    Band memory = {};
    Band other_memory = {};
};

struct RowLayout {
    std::vector<Row> rows;  ///< the pinned ones first
    int pinned_height = 0;
    int height = 0;

    const Row* row_at(int y) const;
    /// The device's own row; nothing if it is folded away.
    const Row* row_of(std::size_t device) const;
};

/// Rows as high as `available` allows, within what is readable. Above kManyDevices, memory becomes
/// a strip of colour.
RowLayout lay_out(const TimelineDocument& document, const RowChoices& choices,
                  const RowNeeds& needs, int available);

inline constexpr std::size_t kManyDevices = 32;

}  // namespace debubble::gui
