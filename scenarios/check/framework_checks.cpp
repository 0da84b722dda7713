#include "scenarios/check/framework_checks.h"

#include <fmt/format.h>

namespace debubble::scenarios {

std::string refusal_text(const FrameworkRefusal& refusal) {
    return fmt::format("{} would refuse this: {} ({})", refusal.framework, refusal.sentence,
                       refusal.place);
}

std::vector<FrameworkRefusal> framework_refusals(const Scenario& scenario) {
    const std::string& name = scenario.framework.name;
    if (name.starts_with("megatron") || name.starts_with("primus")) {
        Refusals refusals("Megatron-LM");
        check_megatron(scenario, refusals);
        check_megatron_memory(scenario, refusals);
        return std::move(refusals).all();
    }
    if (name.starts_with("deepspeed")) {
        Refusals refusals("DeepSpeed");
        check_deepspeed(scenario, refusals);
        return std::move(refusals).all();
    }
    if (name.starts_with("pytorch")) {
        Refusals refusals("torchtitan");
        check_torchtitan(scenario, refusals);
        return std::move(refusals).all();
    }
    return {};
}

}  // namespace debubble::scenarios
