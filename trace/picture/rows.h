#pragma once

#include <cstddef>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "trace/picture/document/document.h"
#include "trace/picture/raster.h"

/// The rows of a timeline, and their places.
namespace debubble::picture {

/// The ranks, by index, that a person has opened, closed or pinned. They survive a new simulation
/// of the plan.
struct RowChoices {
    std::set<int> streams = {};    ///< ranks whose streams have rows of their own
    std::set<int> replicas = {};   ///< ranks whose replicas have rows of their own
    std::set<int> collapsed = {};  ///< ranks that are drawn thin
    std::set<int> pinned = {};     ///< ranks that stay at the top
    std::set<int> link_use = {};   ///< ranks whose links have rows of their own
    bool all_link_use = false;     ///< all have, but for those that are folded
    std::set<int> unfolded = {};   ///< first ranks of runs alike that are not folded
    /// Of more than kManyDevices ranks, runs of kFoldedRun and more that are alike share a row.
    bool fold_alike = false;
    /// The first and the last rank that have rows, if not all do; pinned ones have theirs as well.
    std::optional<std::pair<int, int>> only = {};
    bool shows(int rank) const {
        return !only || (only->first <= rank && rank <= only->second) || pinned.contains(rank);
    }
    friend bool operator==(const RowChoices&, const RowChoices&) = default;
};

/// The parts besides bars that the rows need room for.
struct RowNeeds {
    bool memory = false;
    bool ghost = false;                       ///< a plan drawn below the bars
    bool comparison = false;                  ///< two half-lanes and the error between them
    const TimelineDocument* other = nullptr;  ///< B of a comparison
};

/// A row, in pixels of the window, from the top of the first row.
struct Row {
    std::size_t device = 0;  ///< index in TimelineDocument::devices
    /// Stream of that device; nothing for the device's own row.
    std::optional<std::size_t> stream = {};
    /// Class of links of that device, as an index in LinkTable::classes.
    std::optional<std::size_t> links_of = {};
    /// Whether it is the device's own row: its bars and its memory.
    bool is_own() const { return !stream && !links_of; }
    bool heat = false;  ///< whether memory is a strip of colour
    bool pinned = false;
    bool collapsed = false;
    /// Whether it is a line of ranks alike that are folded. They share the words beside them, which
    /// the run's first line has.
    bool folded = false;
    /// Of the first line of such a run: its last device, and its height.
    std::optional<std::size_t> run_to = {};
    int run_height = 0;
    Band whole = {};
    Band bars = {};   ///< in a comparison those of A
    Band error = {};  ///< height 0, as in all bands below, where there is none
    Band other = {};  ///< bars of B, or of the ghost; the other_ bands below belong to it too
    Band links = {};  ///< band of messages and collectives
    Band other_links = {};
    Band memory = {};
    Band other_memory = {};
    Band use = {};  ///< of a class of links
    Band other_use = {};
};

struct RowLayout {
    std::vector<Row> rows;  ///< the pinned ones first
    int pinned_height = 0;
    int height = 0;
    std::optional<std::pair<int, int>> only = {};  ///< RowChoices::only

    const Row* row_at(int y) const;
    /// The row of the device itself; nothing if it is folded away.
    const Row* row_of(std::size_t device) const;
    /// The first line of the run that a folded row belongs to; nothing of other rows.
    const Row* run_of(const Row& row) const;
};

/// Lays out rows as high as `available` allows, within readable limits. Above kManyDevices, memory
/// becomes a strip of colour.
RowLayout lay_out(const TimelineDocument& document, const RowChoices& choices,
                  const RowNeeds& needs, int available);

inline constexpr std::size_t kManyDevices = 32;
inline constexpr std::size_t kFoldedRun = 3;
/// A run of ranks alike is drawn by as many of them, evenly chosen, a thin line each.
inline constexpr std::size_t kMostLinesOfRun = 60;

}  // namespace debubble::picture
