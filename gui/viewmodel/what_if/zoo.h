#pragma once

#include <cstdint>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "base/units.h"
#include "gui/viewmodel/source.h"
#include "trace/picture/colours.h"

/// Every schedule that a plan could have, beside each other.
namespace debubble::gui {

/// A small picture of a step: a line of colours for each rank, on one axis of time for all
/// schedules. Colours are 0xffRRGGBB.
struct SmallTimeline {
    int width = 0;
    std::vector<std::vector<std::uint32_t>> light;  ///< by rank
    std::vector<std::vector<std::uint32_t>> dark;
};

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
/// out of memory, then those that cannot be had. Predicts some thirty plans on all cores but one;
/// pure and thread-safe. Throws Cancelled soon after they are no longer wanted.
std::vector<ZooRow> schedule_zoo(const ScenarioText& source, const std::stop_token& stop = {});

/// The text with a row's schedule and number of stages.
ScenarioText with_schedule(const ScenarioText& source, const ZooRow& row);

}  // namespace debubble::gui
