#pragma once

#include <cstddef>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "trace/picture/document/document.h"
#include "trace/picture/raster.h"

/// The rows of a timeline, and their positions.
namespace debubble::picture {

/// The ranks, by index, that the user has opened, closed or pinned. They are kept when the plan is
/// simulated again.
struct RowChoices {
    std::set<int> streams = {};    ///< ranks whose streams have rows of their own
    std::set<int> replicas = {};   ///< ranks whose replicas have rows of their own
    std::set<int> collapsed = {};  ///< ranks with thin rows
    std::set<int> pinned = {};     ///< ranks whose rows stay at the top
    std::set<int> link_use = {};   ///< ranks whose links have rows of their own
    bool all_link_use = false;     ///< all ranks have them, except folded ones
    std::set<int> unfolded = {};   ///< first ranks of runs of similar ranks that are not folded
    /// Whether kFoldedRun or more similar neighbours share a row, if there are more than
    /// kManyDevices ranks.
    bool fold_alike = false;
    /// The first and the last rank with rows, if not all have them. Pinned ranks have rows as well.
    std::optional<std::pair<int, int>> only = {};
    bool shows(int rank) const {
        return !only || (only->first <= rank && rank <= only->second) || pinned.contains(rank);
    }
    friend bool operator==(const RowChoices&, const RowChoices&) = default;
};

/// The parts of rows, besides bars, that need room.
struct RowNeeds {
    bool memory = false;
    bool ghost = false;                       ///< a plan drawn below the bars
    bool comparison = false;                  ///< two half-lanes and the error between them
    const TimelineDocument* other = nullptr;  ///< B of a comparison
};

/// A row, in pixels of the window from the top of the first row.
struct Row {
    std::size_t device = 0;  ///< index in TimelineDocument::devices
    /// Stream of that device; empty for the device's own row.
    std::optional<std::size_t> stream = {};
    /// Class of links of that device: an index in LinkTable::classes.
    std::optional<std::size_t> links_of = {};
    /// Whether it is the device's own row: its bars and its memory.
    bool is_own() const { return !stream && !links_of; }
    bool heat = false;  ///< whether memory is drawn as a strip of colour
    bool pinned = false;
    bool collapsed = false;
    /// Whether it is a line in a run of folded ranks. These share the text left of them, which
    /// belongs to the run's first line.
    bool folded = false;
    /// The last device and the height of such a run; set in its first line.
    std::optional<std::size_t> run_to = {};
    int run_height = 0;
    Band whole = {};
    Band bars = {};   ///< in a comparison those of A
    Band error = {};  ///< an absent band has height 0, here and below
    Band other = {};  ///< bars of B, or of the ghost; the other_ bands below belong to it too
    Band links = {};  ///< band of messages and collectives
    Band other_links = {};
    Band memory = {};
    Band other_memory = {};
    Band use = {};  ///< use of a class of links
    Band other_use = {};
};

struct RowLayout {
    std::vector<Row> rows;  ///< the pinned ones first
    int pinned_height = 0;
    int height = 0;
    std::optional<std::pair<int, int>> only = {};  ///< RowChoices::only

    const Row* row_at(int y) const;
    /// The device's own row; nullptr if it is folded away.
    const Row* row_of(std::size_t device) const;
    /// The first line of the run that a folded row belongs to; nullptr for other rows.
    const Row* run_of(const Row& row) const;
};

/// Lays out rows as high as `available` allows, within readable limits. With more than kManyDevices
/// devices, memory is a strip of colour.
RowLayout lay_out(const TimelineDocument& document, const RowChoices& choices,
                  const RowNeeds& needs, int available);

inline constexpr std::size_t kManyDevices = 32;
inline constexpr std::size_t kFoldedRun = 3;
/// The most ranks of a folded run that are drawn, evenly chosen, as a thin line each.
inline constexpr std::size_t kMostLinesOfRun = 60;

}  // namespace debubble::picture
