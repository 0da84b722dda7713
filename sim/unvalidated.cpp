#include "sim/unvalidated.h"

#include <algorithm>
#include <array>
#include <initializer_list>
#include <string_view>

#include <fmt/format.h>

namespace debubble::sim {
namespace {

using scenarios::Provenance;

/// True if one of these constants is set, and none of them was measured or fitted.
bool is_assumed(const scenarios::Cluster& cluster,
                std::initializer_list<std::string_view> constants) {
    return std::ranges::any_of(constants, [&](std::string_view constant) {
        const auto origin = cluster.origins.find(std::string(constant));
        return origin != cluster.origins.end() && origin->second.provenance == Provenance::Assumed;
    });
}

/// The assumed shares of the datasheet's rates that this plan's kernels depend on: of products, of
/// flash attention, of memory-bound kernels.
std::string assumed_rates(const scenarios::Scenario& scenario) {
    const scenarios::Cluster& cluster = scenario.cluster;
    std::vector<std::string_view> names;
    if (is_assumed(cluster, {"gpu.gemm_efficiency"})) names.emplace_back("products");
    if (scenario.training.attention == models::AttentionKernel::Flash &&
        is_assumed(cluster,
                   {"gpu.attention_forward_efficiency", "gpu.attention_backward_efficiency"}))
        names.emplace_back("attention");
    if (!cluster.origins.contains("gpu.memory_efficiency") ||
        is_assumed(cluster, {"gpu.memory_efficiency"}))
        names.emplace_back("memory-bound kernels");
    return fmt::format("{}", fmt::join(names, ", "));
}

/// True for networks of GPT-2's kind: the measured steps of dense models are theirs.
bool is_measured_network(const models::Architecture& model) {
    const auto gated = [](const models::DenseMlp& mlp) { return is_gated(mlp.activation); };
    return model.norm == models::Norm::LayerNorm &&
           model.layers.most<models::DenseMlp>(gated) == 0 && model.learned_positions &&
           !model.sees_images();
}

}  // namespace

std::vector<std::string> unvalidated_features(const scenarios::Scenario& scenario) {
    std::vector<std::string> features;
    const auto say = [&](bool applies, std::string feature) {
        if (applies) features.push_back(std::move(feature));
    };
    const scenarios::Cluster& cluster = scenario.cluster;
    const std::string rates = assumed_rates(scenario);
    say(!rates.empty(), fmt::format("the kernel rates of {} ({})", cluster.gpu.name, rates));
    say(scenario.gpus > 1 &&
            is_assumed(cluster, {"node_link.efficiency", "node_link.group_efficiency"}),
        fmt::format("the links inside a node of {}", cluster.name));
    say(cluster.nodes > 1 && is_assumed(cluster, {"network.efficiency"}),
        fmt::format("the network between nodes of {}", cluster.name));
    say(scenario.framework.name != "megatron-2021",
        fmt::format("the host times of {}", scenario.framework.name));

    constexpr std::array<std::string_view, 2> kMeasured{"1f1b", "interleaved-1f1b"};
    const std::string schedule =
        scenario.schedule.csv.empty() ? scenario.schedule.name : scenario.schedule.csv;
    say(scenario.parallel.pipeline > 1 && std::ranges::find(kMeasured, schedule) == kMeasured.end(),
        fmt::format("schedule {}", schedule));
    say(scenario.parallel.pipeline > 1 && scenario.schedule.overlaps,
        "forwards and backwards in pairs (OVERLAP)");
    say(scenario.parallel.zero_stage >= 2 && scenario.has_replicas(),
        fmt::format("ZeRO-{}", scenario.parallel.zero_stage));
    say(scenario.parallel.context > 1, "context parallelism");
    say(scenario.model.has_experts(), "mixtures of experts");
    say(std::ranges::any_of(scenario.model.layers.kinds(),
                            [](const models::Layer& layer) { return layer.is_recurrent(); }),
        "recurrent layers");
    say(scenario.training.offload_optimizer || scenario.training.offload_activations, "offloading");
    say(!is_measured_network(scenario.model), "this family of models");
    say(scenario.training.precision.compute == models::DataType::Fp32, "fp32 arithmetic");
    return features;
}

}  // namespace debubble::sim
