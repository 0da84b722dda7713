#pragma once

#include <stop_token>
#include <vector>

#include "gui/viewmodel/source.h"
#include "sim/zoo.h"

/// All schedules for the plan of a text.
namespace debubble::gui {

using sim::small_timeline;
using sim::SmallTimeline;
using sim::ZooRow;

/// The rows of sim::schedule_zoo, each for the text in which the user has chosen the schedule.
std::vector<ZooRow> schedule_zoo(const ScenarioText& source, const std::stop_token& stop = {});

/// The rows with the pinned schedules first, in the order of `pinned`.
std::vector<std::size_t> pinned_first(const std::vector<ZooRow>& rows,
                                      const std::vector<std::string>& pinned);

/// A row's step, with the difference to the first pinned one if there is one: "13.49 s, -1.3 %".
std::string step_words(const ZooRow& row, const std::vector<ZooRow>& rows,
                       const std::vector<std::string>& pinned);

/// The text with a row's schedule and number of stages.
ScenarioText with_schedule(const ScenarioText& source, const ZooRow& row);

}  // namespace debubble::gui
