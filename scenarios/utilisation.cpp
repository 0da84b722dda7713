#include "scenarios/utilisation.h"

#include "models/graph.h"

namespace debubble::scenarios {

double model_flops_per_step(const Scenario& scenario) {
    return static_cast<double>(scenario.training.global_batch) *
           models::model_flops_per_sample(scenario.model, scenario.training.seq_length);
}

double attended_share(const Scenario& scenario) {
    const std::int64_t tokens = scenario.training.seq_length;
    return models::attended_flops_per_sample(scenario.model, tokens) /
           models::model_flops_per_sample(scenario.model, tokens);
}

double recomputed_share(const Scenario& scenario) {
    const models::Architecture& model = scenario.model;
    const double all = models::model_flops_per_sample(model, scenario.training.seq_length);
    const auto s = static_cast<double>(scenario.training.seq_length);
    double widths = 0;  // columns of the queries of all layers
    for (int layer = 0; layer < model.layers.count(); ++layer)
        if (const auto* attention = model.layers[layer].as<models::Attention>())
            widths += static_cast<double>(attention->query_width());
    const double head = 2.0 * static_cast<double>(model.hidden * model.vocab) * s;
    switch (scenario.training.recompute) {
        case models::Recompute::None: return 0;
        case models::Recompute::Selective:  // a fused kernel has nothing to select
            if (scenario.training.attention == models::AttentionKernel::Flash) return 0;
            return 4.0 * widths * s * s / all;
        case models::Recompute::Full: return (all / 3 - head) / all;
    }
    return 0;
}

std::optional<double> peak_flops_per_s(const Scenario& scenario) {
    const bool fp32 = scenario.training.precision.compute == models::DataType::Fp32;
    const Gpu& gpu = scenario.cluster.gpu;
    const double peak = fp32 ? gpu.fp32_flops_per_s : gpu.fp16_flops_per_s;
    return peak > 0 ? std::optional(peak) : std::nullopt;
}

}  // namespace debubble::scenarios
