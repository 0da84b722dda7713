#include "scenarios/generator_options_of.h"

namespace debubble::scenarios {

GeneratorOptions generator_options_of(const ScheduleChoice& choice) {
    GeneratorOptions options;
    options.memory_limit = choice.memory_limit;
    options.values = choice.options;
    return options;
}

}  // namespace debubble::scenarios
