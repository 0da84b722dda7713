#pragma once

#include <stop_token>
#include <vector>

#include "gui/viewmodel/source.h"
#include "sim/zoo.h"

/// Every schedule that the plan of a text could have.
namespace debubble::gui {

using sim::SmallTimeline;
using sim::ZooRow;

/// The rows of sim::schedule_zoo, each with the text changed as if a person had chosen it.
std::vector<ZooRow> schedule_zoo(const ScenarioText& source, const std::stop_token& stop = {});

/// The text with a row's schedule and number of stages.
ScenarioText with_schedule(const ScenarioText& source, const ZooRow& row);

}  // namespace debubble::gui
