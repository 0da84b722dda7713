#pragma once

#include "scenarios/plan/scenario.h"
#include "schedule/generators/generator_options.h"

namespace debubble::scenarios {

/// The options of a scenario's generator, with unit costs: code that knows the times of passes sets
/// them.
GeneratorOptions generator_options_of(const ScheduleChoice& choice);

}  // namespace debubble::scenarios
