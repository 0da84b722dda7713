#include "scenarios/plan/derived.h"

#include <algorithm>
#include <optional>
#include <vector>

#include "models/counts/counts.h"
#include "models/execution/low_precision.h"
#include "models/graph/graph.h"
#include "models/graph/operator_runs.h"
#include "models/network/layers.h"
#include "scenarios/plan/plan.h"

namespace debubble::scenarios {

namespace {

double flops_per_sample(const Scenario& scenario) {
    const std::int64_t tokens = scenario.training.seq_length;
    return scenario.training.lora ? models::frozen_model_flops_per_sample(scenario.model, tokens)
                                  : models::model_flops_per_sample(scenario.model, tokens);
}

}  // namespace

double model_flops_per_step(const Scenario& scenario) {
    return static_cast<double>(scenario.training.global_batch) * flops_per_sample(scenario);
}

double printed_flops_per_step(const Scenario& scenario) {
    if (!scenario.framework.counts_causal_half) return model_flops_per_step(scenario);
    return static_cast<double>(scenario.training.global_batch) *
           models::causal_flops_per_sample(scenario.model, scenario.training.seq_length);
}

double attended_share(const Scenario& scenario) {
    const std::int64_t tokens = scenario.training.seq_length;
    const double attended = scenario.training.lora
                                ? models::frozen_attended_flops_per_sample(scenario.model, tokens)
                                : models::attended_flops_per_sample(scenario.model, tokens);
    return attended / flops_per_sample(scenario);
}

namespace {

/// The share of the layers that run again: all, or so many of each stage.
double reached_share(const Scenario& scenario) {
    const std::optional<int> most = scenario.training.recompute_extent.layers;
    if (!most) return 1;
    int reached = 0;
    for (const models::StageContent& stage :
         partition_of(scenario, scenario.pipeline_shape().stages()))
        reached += std::min(*most, stage.layers);
    return static_cast<double>(reached) / scenario.model.layers.count();
}

/// FLOPs of recomputation in these layers, of one rank and microbatch.
double flops_again(const Scenario& scenario, const models::Execution& how, int first, int layers) {
    if (layers == 0) return 0;
    const auto graph = models::build_stage(scenario.model, how, {first, layers, false, false},
                                           models::ExpertParameters::Counted);
    const models::RunsByPass runs = models::operator_runs(graph, false);
    double flops = 0;
    for (const models::OperatorRun& run : runs[1])
        if (run.part == models::Part::Again)
            for (const models::Kernel& kernel :
                 models::kernels_of(graph.operators[run.op], run.part))
                flops += models::flops(kernel);
    return flops;
}

/// The same of all layers and ranks, and per sample.
double flops_of_modules(const Scenario& scenario) {
    const models::Execution how = execution_of(scenario);
    const models::Layers& layers = scenario.model.layers;
    std::vector<double> of_kind;
    double sum = 0;
    for (int layer = 0; layer < layers.count(); ++layer) {
        const std::size_t kind = layers.kind_of(layer);
        if (kind == of_kind.size()) {
            const int first = models::beginning_at(layers, layer);
            of_kind.push_back(flops_again(scenario, how, first, layer - first + 1) -
                              flops_again(scenario, how, first, layer - first));
        }
        sum += of_kind[kind];
    }
    return sum * how.tensor * how.context / static_cast<double>(how.micro_batch);
}

}  // namespace

double recomputed_share(const Scenario& scenario) {
    const models::Architecture& model = scenario.model;
    const double all = flops_per_sample(scenario);
    const double forward = models::model_flops_per_sample(model, scenario.training.seq_length) / 3;
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
        case models::Recompute::Full: return (forward - head) / all * reached_share(scenario);
        case models::Recompute::Modules:
        case models::Recompute::Products:
            return flops_of_modules(scenario) / all * reached_share(scenario);
    }
    return 0;
}

std::optional<double> peak_flops_per_s(const Scenario& scenario) {
    const bool fp32 = scenario.training.precision.compute == models::DataType::Fp32;
    const Gpu& gpu = scenario.cluster.gpu;
    std::optional<double> peak = fp32 ? gpu.fp32_flops_per_s : gpu.fp16_flops_per_s;
    switch (models::operands_of(scenario.training.precision.recipe)) {
        case models::Narrow::None: break;
        case models::Narrow::Fp8:
        case models::Narrow::Fp8Blockwise:
        case models::Narrow::MxFp8: peak = gpu.fp8_flops_per_s; break;
        case models::Narrow::NvFp4: peak = gpu.fp4_flops_per_s; break;
    }
    return peak;
}

}  // namespace debubble::scenarios
