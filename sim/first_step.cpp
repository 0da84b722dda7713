#include "sim/predict.h"

#include "models/memory/static_memory.h"
#include "sim/memory/static_level.h"

namespace debubble::sim {

Bytes moments_made_later(const RankPrediction& rank, const scenarios::Scenario& scenario) {
    const auto held = [&](MemoryClass of) { return rank.memory[of]; };
    if (held(MemoryClass::Activations) == Bytes{}) return {};
    models::StaticPolicy policy = static_policy(scenario);
    const models::DataType compute = scenario.training.precision.compute;
    const std::int64_t all = models::optimizer_state_width(policy, compute);
    policy.moments_exist = false;
    const std::int64_t without = models::optimizer_state_width(policy, compute);
    return all > 0 ? Bytes{held(MemoryClass::Optimizer).count / all * (all - without)} : Bytes{};
}

}  // namespace debubble::sim
