#include "sim/static_level.h"

namespace debubble::sim {
namespace {

std::int64_t shards_from(const scenarios::Scenario& scenario, int zero_stage) {
    const scenarios::Parallel& parallel = scenario.parallel;
    return parallel.zero_stage >= zero_stage ? std::int64_t{parallel.data} * parallel.context : 1;
}

}  // namespace

MemoryByClass static_level(const scenarios::Scenario& scenario, std::int64_t elements) {
    const scenarios::Precision& precision = scenario.training.precision;
    const scenarios::Framework& framework = scenario.framework;
    const auto bytes = [&](std::int64_t per_element, int zero_stage) {
        return Bytes{elements * per_element / shards_from(scenario, zero_stage)};
    };
    MemoryByClass held{};
    const auto of = [&](MemoryClass c) -> Bytes& { return held[static_cast<std::size_t>(c)]; };
    of(MemoryClass::Parameters) = bytes(models::size_of(precision.compute), 3);
    of(MemoryClass::Gradients) = bytes(models::size_of(precision.grads), 2);
    if (!scenario.training.offload_optimizer) {
        const std::int64_t main =
            precision.main_params ? models::size_of(*precision.main_params) : 0;
        of(MemoryClass::Optimizer) = bytes(main + 2 * models::size_of(precision.moments), 1);
    }
    of(MemoryClass::Buffers) = framework.library_workspace;
    if (framework.ddp_buckets && scenario.parallel.data > 1)
        of(MemoryClass::Buffers) += Bytes{elements * models::size_of(precision.grads)};
    return held;
}

Bytes optimizer_temporaries(const scenarios::Scenario& scenario, std::int64_t elements) {
    if (scenario.framework.optimizer != scenarios::OptimizerKind::ForeachAdam ||
        scenario.training.offload_optimizer)
        return {};
    return Bytes{elements * models::size_of(scenario.training.precision.grads) /
                 shards_from(scenario, 1)};
}

}  // namespace debubble::sim
