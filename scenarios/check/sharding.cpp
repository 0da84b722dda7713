#include <fmt/format.h>

#include "scenarios/check/parts.h"

namespace debubble::scenarios {

/// Ways of sharding that the plan does not shard by.
void check_sharded_exchanges(Draft& draft) {
    Scenario& scenario = draft.scenario;
    const int stage = scenario.parallel.zero_stage;
    const auto note = [&](const char* key, const char* stages) {
        scenario.notes.push_back(fmt::format(
            "{} has no effect: it applies to {}, but zero_stage is {}", key, stages, stage));
    };
    if (scenario.framework.grad_reduction == GradReduction::Owner && stage != 1 && stage != 2)
        note("grad_reduction owner", "ZeRO-1 and ZeRO-2");
    if (scenario.framework.gather == Gather::Parameter && stage != 3)
        note("gather parameter", "ZeRO-3");
}

}  // namespace debubble::scenarios
