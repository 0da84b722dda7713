#pragma once

#include <array>
#include <cmath>
#include <memory>
#include <vector>

#include "schedule/generators/generators.h"
#include "sim/cost/physical_models.h"
#include "tests/models/change_layers.h"
#include "tests/sim/scenarios.h"

/// The physical models of a scenario's stages, and the jobs that several of their tests price.
namespace debubble::sim {

inline std::vector<models::StageContent> even_stages(const scenarios::Scenario& scenario) {
    const int count = scenario.parallel.pipeline;
    const int layers = scenario.model.layers.count() / count;
    std::vector<models::StageContent> stages;
    for (int s = 0; s < count; ++s) stages.push_back({s * layers, layers, s == 0, s == count - 1});
    return stages;
}

inline std::shared_ptr<const SchedulePrices> prices(const scenarios::Scenario& scenario,
                                                    const char* schedule = "1f1b") {
    return std::make_shared<const SchedulePrices>(scenario, even_stages(scenario),
                                                  generate(schedule, scenario.pipeline_shape()));
}

inline std::unique_ptr<CostModel> price(const scenarios::Scenario& scenario,
                                        const char* schedule = "1f1b") {
    return make_cost_model(prices(scenario, schedule));
}

inline std::unique_ptr<MemoryModel> memory_of(const scenarios::Scenario& scenario) {
    return make_memory_model(prices(scenario));
}

/// Seconds of a flow that nobody disturbs.
inline double alone(const Flow& flow, const CostModel& model) {
    double rate = INFINITY;
    for (const Link link : flow.links) rate = std::min(rate, model.links()[link].value);
    return seconds(flow.latency) +
           (!flow.links.empty() ? static_cast<double>(flow.bytes.count) / rate : 0);
}

inline double reduce_seconds(const scenarios::Scenario& scenario) {
    const auto model = price(scenario);
    const std::array holder{Rank{0}};
    return alone(model->reduce_grad(Stage{0}, holder), *model);
}

/// Four layers of Mixtral's kind on two nodes.
inline scenarios::Scenario mixture_job(int expert, int expert_tensor) {
    scenarios::Scenario scenario = gpt_job(2, 8, 1, 4);
    scenario.model.family = models::Family::Llama;
    scenario.model.norm = models::Norm::RmsNorm;
    scenario.model.learned_positions = false;
    change_layers(scenario.model, [](models::LayerKeys& keys) {
        keys.linear_bias = false;
        keys.activation = models::Activation::Swiglu;
        keys.rotary = true;
        keys.experts = 8;
        keys.experts_per_token = 2;
    });
    scenario.parallel.sequence = true;
    scenario.parallel.expert = expert;
    scenario.parallel.expert_tensor = expert_tensor;
    scenario.training.attention = models::AttentionKernel::Flash;
    return scenario;
}

}  // namespace debubble::sim
