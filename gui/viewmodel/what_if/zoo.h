#pragma once

#include <stop_token>
#include <vector>

#include "gui/viewmodel/source.h"
#include "sim/zoo.h"

/// Every schedule that the plan of a text could have.
namespace debubble::gui {

using sim::small_timeline;
using sim::SmallTimeline;
using sim::ZooRow;

/// The rows of sim::schedule_zoo, each with the text changed as if a person had chosen it.
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
