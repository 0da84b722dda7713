#pragma once

#include <cstdint>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "base/units.h"
#include "gui/viewmodel/source.h"
#include "gui/viewmodel/what_if/small_timeline.h"

/// Every schedule that a plan could have, beside each other.
namespace debubble::gui {

struct ZooRow {
    std::string schedule;
    std::string summary;      ///< the schedule in a line
    int stages_per_rank = 1;  ///< the number with which its step is shortest, those that fit first
    std::optional<std::string> why_not = {};  ///< the reason why the plan cannot have it
    double step_s = 0;
    double bubble = 0;
    double exposed = 0;  ///< share of the step, as the mean over the ranks
    Bytes peak = {};
    bool fits = false;
    bool present = false;  ///< the one that the plan has
    SmallTimeline picture = {};
    bool possible() const { return !why_not; }
};

/// The rows in the order of a person's interest: those that fit by their step, then those that are
/// out of memory, then those that cannot be had. Predicts some fifty plans on all cores, as nobody
/// waits for less; pure and thread-safe. Throws Cancelled soon after they are no longer wanted.
std::vector<ZooRow> schedule_zoo(const ScenarioText& source, const std::stop_token& stop = {});

/// The rows with those of these schedules first, in the order in which they were pinned.
std::vector<std::size_t> pinned_first(const std::vector<ZooRow>& rows,
                                      const std::vector<std::string>& pinned);

/// A row's step, beside the first pinned one's if there is one: "13.49 s, -1.3 %".
std::string step_words(const ZooRow& row, const std::vector<ZooRow>& rows,
                       const std::vector<std::string>& pinned);

/// The text with a row's schedule and number of stages.
ScenarioText with_schedule(const ScenarioText& source, const ZooRow& row);

}  // namespace debubble::gui
