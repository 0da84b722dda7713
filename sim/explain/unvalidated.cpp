#include "sim/explain/explain.h"

#include <algorithm>
#include <array>
#include <initializer_list>
#include <string_view>

#include <fmt/format.h>

namespace debubble::sim {
namespace {

using scenarios::Provenance;

/// True if one of these constants is set, but none of them was measured or fitted.
bool is_assumed(const scenarios::Cluster& cluster,
                std::initializer_list<std::string_view> constants) {
    return std::ranges::any_of(constants, [&](std::string_view constant) {
        const auto origin = cluster.origins.find(std::string(constant));
        return origin != cluster.origins.end() && origin->second.provenance == Provenance::Assumed;
    });
}

/// The assumed shares of the datasheet's rates that this plan's kernels depend on: for GEMMs, flash
/// attention, and memory-bound kernels.
std::string assumed_rates(const scenarios::Scenario& scenario) {
    const scenarios::Cluster& cluster = scenario.cluster;
    std::vector<std::string_view> names;
    if (is_assumed(cluster, {"gpu.gemm_efficiency"})) names.emplace_back("GEMMs");
    if (scenario.training.attention == models::AttentionKernel::Flash &&
        is_assumed(cluster,
                   {"gpu.attention_forward_efficiency", "gpu.attention_backward_efficiency"}))
        names.emplace_back("attention");
    if (!cluster.origins.contains("gpu.memory_efficiency") ||
        is_assumed(cluster, {"gpu.memory_efficiency"}))
        names.emplace_back("memory-bound kernels");
    return fmt::format("{}", fmt::join(names, ", "));
}

/// Profiles and schedules of at least five published steps in bench/measured.
constexpr std::array<std::string_view, 6> kMeasuredFrameworks{"megatron-2021", "megatron-2024",
                                                              "megatron-2026", "pytorch-fsdp1",
                                                              "pytorch-fsdp2", "pytorch-compile"};
constexpr std::array<std::string_view, 4> kMeasuredSchedules{"1f1b", "interleaved-1f1b", "zb-auto",
                                                             "combined-1f1b"};

bool is_one_of(std::string_view word, auto& words) {
    return std::ranges::find(words, word) != words.end();
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
    say(!is_one_of(scenario.framework.name, kMeasuredFrameworks),
        fmt::format("the host times of {}", scenario.framework.name));
    const std::string schedule = scenario.schedule.csv.value_or(scenario.schedule.name);
    const bool measured_schedule = is_one_of(schedule, kMeasuredSchedules);
    say(scenario.parallel.pipeline > 1 && !measured_schedule, fmt::format("schedule {}", schedule));
    say(scenario.parallel.pipeline > 1 && scenario.schedule.overlaps && !measured_schedule,
        "forwards and backwards in pairs (OVERLAP)");
    say(scenario.training.offload_optimizer, "an offloaded optimizer");
    say(scenario.training.precision.compute == models::DataType::Fp32, "fp32 arithmetic");
    return features;
}

}  // namespace debubble::sim
