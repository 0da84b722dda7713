#include "sim/unvalidated.h"

#include <algorithm>
#include <array>
#include <string_view>

#include <fmt/format.h>

namespace debubble::sim {

std::vector<std::string> unvalidated_features(const scenarios::Scenario& scenario) {
    using scenarios::Provenance;
    std::vector<std::string> features;
    const auto say = [&](bool applies, std::string feature) {
        if (applies) features.push_back(std::move(feature));
    };
    const scenarios::Cluster& cluster = scenario.cluster;
    const auto rate = cluster.origins.find("gpu.memory_efficiency");
    say(rate == cluster.origins.end() || rate->second.provenance == Provenance::Assumed,
        fmt::format("the kernel rates of {}", cluster.gpu.name));
    say(scenario.framework.name != "megatron-2021",
        fmt::format("the host times of {}", scenario.framework.name));

    constexpr std::array<std::string_view, 2> kMeasured{"1f1b", "interleaved-1f1b"};
    const std::string schedule =
        scenario.schedule.csv.empty() ? scenario.schedule.name : scenario.schedule.csv;
    say(scenario.parallel.pipeline > 1 && std::ranges::find(kMeasured, schedule) == kMeasured.end(),
        fmt::format("schedule {}", schedule));
    say(scenario.parallel.zero_stage >= 2, fmt::format("ZeRO-{}", scenario.parallel.zero_stage));
    say(scenario.parallel.context > 1, "context parallelism");
    say(scenario.model.experts > 0, "mixtures of experts");
    say(scenario.training.offload_optimizer || scenario.training.offload_activations, "offloading");
    say(scenario.model.family != models::Family::Gpt2, "this family of models");
    say(scenario.training.precision.compute == models::DataType::Fp32, "fp32 arithmetic");
    return features;
}

}  // namespace debubble::sim
