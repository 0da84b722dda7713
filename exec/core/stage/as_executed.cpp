#include "exec/core/stage/as_executed.h"

#include "scenarios/framework_reader.h"

namespace debubble::exec {

scenarios::Scenario as_executed(scenarios::Scenario scenario) {
    static const scenarios::Framework kProfile = scenarios::shipped_framework("debubble");
    scenarios::Training& training = scenario.training;
    training.attention = models::AttentionKernel::Flash;
    if (training.recompute == models::Recompute::Selective)
        training.recompute = models::Recompute::None;

    scenarios::Framework executed = kProfile;
    const scenarios::Framework& asked = scenario.framework;
    executed.post_validation = asked.post_validation;
    executed.kernels.vocabulary_multiple = asked.kernels.vocabulary_multiple;
    if (asked.kernels.loss == models::LossKernel::Chunked)
        executed.kernels.loss = models::LossKernel::Chunked;
    if (asked.offload_buffer > Bytes{}) executed.offload_buffer = asked.offload_buffer;
    scenario.framework = executed;
    return scenario;
}

}  // namespace debubble::exec
