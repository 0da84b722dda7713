#include "scenarios/plan/derived.h"

namespace debubble::scenarios {

GeneratorOptions generator_options_of(const ScheduleChoice& choice) {
    GeneratorOptions options;
    options.memory_limits = choice.memory_limits;
    options.values = choice.options;
    return options;
}

}  // namespace debubble::scenarios
