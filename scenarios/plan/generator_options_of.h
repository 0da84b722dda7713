#pragma once

#include "scenarios/plan/scenario.h"
#include "schedule/generators/generator_options.h"

namespace debubble::scenarios {

/// True if the ranks' graphs say what a backward-input frees (`mem_b: graph`).
bool frees_by_graph(const ScheduleChoice& choice);

/// The options of a scenario's generator, with unit costs: code that knows the times of passes sets
/// them, and code that knows the graphs says what they free.
GeneratorOptions generator_options_of(const ScheduleChoice& choice);

}  // namespace debubble::scenarios
