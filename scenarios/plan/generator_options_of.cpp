#include "scenarios/plan/derived.h"

namespace debubble::scenarios {

bool frees_by_graph(const ScheduleChoice& choice) {
    const auto found = choice.options.find("mem_b");
    return found != choice.options.end() && found->second == "graph";
}

GeneratorOptions generator_options_of(const ScheduleChoice& choice) {
    GeneratorOptions options;
    options.memory_limits = choice.memory_limits;
    options.values = choice.options;
    // What the graphs free is known once the stages have been priced (sim/plan/priced_plan.cpp).
    if (frees_by_graph(choice)) options.values.erase("mem_b");
    return options;
}

}  // namespace debubble::scenarios
