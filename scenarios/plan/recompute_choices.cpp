#include "scenarios/plan/recompute_choices.h"

#include <algorithm>
#include <bit>
#include <utility>

#include "scenarios/plan/plan.h"

namespace debubble::scenarios {
namespace {

using models::Module;
using models::Modules;
using models::Recompute;

/// The modules that the network has, and that Megatron-Core recomputes.
std::vector<Module> modules_of(const Scenario& scenario) {
    const models::Layers& layers = scenario.model.layers;
    const auto any = [&]<class Part>(const auto& has) {
        return layers.most<Part>([&](const Part& part) { return std::int64_t{has(part)}; }) > 0;
    };
    std::vector<Module> modules{Module::LayerNorm};
    if (layers.first<models::Attention>() != nullptr) modules.push_back(Module::CoreAttention);
    if (any.template operator()<models::Attention>(
            [](const models::Attention& attention) { return attention.latent.has_value(); }))
        modules.push_back(Module::MlaUpProjection);
    if (layers.first<models::DenseMlp>() != nullptr) modules.push_back(Module::Mlp);
    if (!scenario.model.has_experts()) return modules;
    modules.push_back(Module::MoeActivation);
    if (any.template operator()<models::Experts>(
            [](const models::Experts& experts) { return experts.shared_ffn.has_value(); }))
        modules.push_back(Module::SharedExperts);
    modules.push_back(Module::Moe);
    return modules;
}

/// Whether so many of the network's modules can be offloaded together, as the reader accepts them.
bool travel(Modules modules) {
    return !modules.has(Module::AttentionProjection) || modules.has(Module::CoreAttention);
}

/// The sets of up to `most` modules whose inputs may be offloaded.
std::vector<models::OffloadExtent> offloads(const Scenario& scenario, int most) {
    const models::Layers& layers = scenario.model.layers;
    std::vector<Module> modules;
    if (layers.first<models::Attention>() != nullptr)
        modules = {Module::AttentionNorm, Module::QkvLinear, Module::CoreAttention,
                   Module::AttentionProjection};
    modules.push_back(Module::MlpNorm);
    if (scenario.model.has_experts()) {
        modules.push_back(Module::ExpertFc1);
        modules.push_back(Module::MoeActivation);
    }
    std::vector<models::OffloadExtent> sets;
    for (unsigned set = 1; set < 1u << modules.size(); ++set) {
        models::OffloadExtent extent;
        for (std::size_t i = 0; i < modules.size(); ++i)
            if ((set >> i & 1u) != 0) extent.modules.add(modules[i]);
        if (std::popcount(set) <= most && travel(extent.modules)) sets.push_back(extent);
    }
    return sets;
}

/// Combined with each of these choices for all layers, and with none.
void add_offloads(const Scenario& scenario, const std::vector<RecomputeChoice>& whole,
                  std::vector<RecomputeChoice>& choices) {
    std::vector<models::OffloadExtent> sets;
    for (const int most : {32, 2, 1}) {
        sets = offloads(scenario, most);
        if (sets.size() * (whole.size() + 1) <= kMostRecomputeChoices) break;
    }
    for (const models::OffloadExtent& set : sets) {
        choices.push_back({Recompute::None, {}, set});
        for (const RecomputeChoice& choice : whole)
            choices.push_back({choice.recompute, choice.extent, set});
    }
}

/// False for sets that say the same as another one, and for what the reader refuses
/// (scenarios/check/check.cpp, scenarios/check/experts.cpp).
bool is_taken(const Scenario& scenario, Modules modules) {
    const bool moe = modules.has(Module::Moe);
    if (moe && (modules.has(Module::MoeActivation) || modules.has(Module::SharedExperts)))
        return false;  // parts of it
    if (moe && scenario.schedule.pairs_layers) return false;
    return scenario.training.precision.recipe != models::Recipe::Fp8Delayed ||
           (!modules.has(Module::MoeActivation) && !modules.has(Module::LayerNorm));
}

std::vector<RecomputeChoice> of_all_layers(const Scenario& scenario) {
    std::vector<RecomputeChoice> all;
    const std::vector<Module> modules = modules_of(scenario);
    if (scenario.schedule.slices == 1)
        for (unsigned set = 1; set < 1u << modules.size(); ++set) {
            RecomputeChoice choice{Recompute::Modules, {}};
            for (std::size_t i = 0; i < modules.size(); ++i)
                if ((set >> i & 1u) != 0) choice.extent.modules.add(modules[i]);
            if (is_taken(scenario, choice.extent.modules)) all.push_back(choice);
        }
    if (!scenario.schedule.pairs_layers || !scenario.model.has_experts())
        all.push_back({Recompute::Full, {}});
    return all;
}

int most_layers_of_a_stage(const Scenario& scenario) {
    int most = 0;
    for (const models::StageContent& stage :
         partition_of(scenario, scenario.pipeline_shape().stages()))
        most = std::max(most, stage.layers);
    return most;
}

}  // namespace

std::vector<RecomputeChoice> recompute_choices(const Scenario& scenario) {
    const std::vector<RecomputeChoice> whole = of_all_layers(scenario);
    const int most = most_layers_of_a_stage(scenario);
    const auto counts = std::max<std::size_t>(1, kMostRecomputeChoices / (whole.size() + 1));
    const int stride = std::max(1, most / static_cast<int>(counts));
    std::vector<RecomputeChoice> choices{{}};
    for (int layers = stride; layers < most; layers += stride)
        for (RecomputeChoice choice : whole) {
            choice.extent.layers = layers;
            choices.push_back(choice);
        }
    choices.insert(choices.end(), whole.begin(), whole.end());
    if (scenario.training.chooses_offload) add_offloads(scenario, whole, choices);
    return choices;
}

Scenario with(Scenario scenario, const RecomputeChoice& choice) {
    scenario.training.chooses_recompute = false;
    scenario.training.recompute = choice.recompute;
    scenario.training.recompute_extent = choice.extent;
    if (scenario.training.chooses_offload) scenario.training.offload = choice.offload;
    scenario.training.chooses_offload = false;
    return scenario;
}

}  // namespace debubble::scenarios
