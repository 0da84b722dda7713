#pragma once

#include "scenarios/scenario.h"
#include "schedule/generators/generator_options.h"

namespace debubble::scenarios {

/// What a generator is asked for, with unit costs: who knows what passes take sets them.
GeneratorOptions generator_options_of(const ScheduleChoice& choice);

}  // namespace debubble::scenarios
