#pragma once

#include <string>

#include "gui/viewmodel/source.h"

/// A grid for a scenario that has none.
namespace debubble::gui {

/// The cuts of the scenario's GPUs that its network allows, with the schedules that its framework
/// has, as lines of YAML. The batch of a step stays what it is, and keys that would contradict
/// other cuts (`parallel.data`, `training.micro_batches`) are lines with one value. It does not
/// matter whether the scenario's own cut is possible. Of a text that makes no scenario with any
/// cut, a few degrees of each kind.
std::string first_grid(const ScenarioText& source);

}  // namespace debubble::gui
