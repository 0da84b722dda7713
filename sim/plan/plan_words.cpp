#include "sim/plan/plan_words.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <string_view>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "scenarios/plan/packing.h"
#include "scenarios/read/read_scenario.h"

namespace debubble::sim {
namespace {

std::string words_of(models::Modules modules) {
    std::vector<std::string_view> words;
    for (const models::Module module : models::kModules)
        if (modules.has(module)) words.push_back(models::name_of(module));
    return fmt::format(" of {}", fmt::join(words, ", "));
}

std::string first_layers(std::optional<int> layers) {
    return layers ? fmt::format(" in the first {} layers of a stage", *layers) : "";
}

std::string recompute_words(const scenarios::Training& training) {
    if (training.chooses_offload) return "; recompute and offload auto";
    if (training.chooses_recompute) return "; recompute auto";
    const models::RecomputeExtent& extent = training.recompute_extent;
    switch (training.recompute) {
        case models::Recompute::None: return "";
        case models::Recompute::Selective: return "; selective recompute";
        case models::Recompute::Full:
            return "; full recompute" + first_layers(extent.layers) +
                   (extent.together > 1 ? fmt::format(" of {} layers at once", extent.together)
                                        : "");
        case models::Recompute::Products: return "; recompute of every second product";
        case models::Recompute::Modules:
            return "; recompute" + words_of(extent.modules) + first_layers(extent.layers);
    }
    return "";
}

std::string offload_words(const models::OffloadExtent& offload) {
    const std::string least = offload.fewest_elements == models::OffloadExtent{}.fewest_elements
                                  ? ""
                                  : fmt::format(" of {} elements or more", offload.fewest_elements);
    return (offload.everything ? "" : words_of(offload.modules)) + first_layers(offload.layers) +
           least;
}

std::string batch_words(const scenarios::Scenario& s) {
    if (scenarios::packs_in_step(s) && s.imbalance.documents->global_batch_packing)
        return fmt::format("; {} documents of up to {} tokens", s.training.global_batch,
                           scenarios::longest_document(s));
    return fmt::format("; {} microbatch{} of {} x {} tokens", s.training.micro_batches,
                       s.training.micro_batches == 1 ? "" : "es", s.training.micro_batch,
                       s.training.seq_length);
}

constexpr std::string_view kFramework = "framework.";

/// The keys whose values plan_of() and whole_plan_of() say, as they were settled.
constexpr std::string_view kSaid[] = {"gpus",
                                      "parallel.context",
                                      "parallel.data",
                                      "parallel.dynamic_context_parallel",
                                      "parallel.expert",
                                      "parallel.pipeline",
                                      "parallel.sequence",
                                      "parallel.stages_per_rank",
                                      "parallel.tensor",
                                      "parallel.zero_stage",
                                      "schedule",
                                      "schedule.csv",
                                      "schedule.name",
                                      "schedule.slices",
                                      "schedule.stages_per_rank",
                                      "training.expert_load",
                                      "training.global_batch",
                                      "training.lora.rank",
                                      "training.micro_batch",
                                      "training.micro_batches",
                                      "training.precision.recipe",
                                      "training.seq_length"};

/// The keys, and maps of keys, that only a run reads.
constexpr std::string_view kOfRuns[] = {"training.checkpoint",
                                        "training.clip_norm",
                                        "training.data",
                                        "training.epochs",
                                        "training.eval_iters",
                                        "training.eval_interval",
                                        "training.init_from",
                                        "training.lr_schedule",
                                        "training.loss_scale",
                                        "training.optimizer.betas",
                                        "training.optimizer.eps",
                                        "training.optimizer.lr",
                                        "training.optimizer.weight_decay",
                                        "training.optimizer.weight_decay_of",
                                        "training.seed",
                                        "training.steps"};

bool lies_in(std::string_view key, std::string_view map) {
    return key.starts_with(map) && (key.size() == map.size() || key[map.size()] == '.');
}

bool is_said(const scenarios::Scenario& s, std::string_view key) {
    if (std::ranges::find(kSaid, key) != std::end(kSaid)) return true;
    // Nodes follow from the GPUs, unless both are given.
    if (key == "nodes") return !s.given.contains("gpus");
    if (lies_in(key, "training.recompute") || lies_in(key, "training.offload")) return true;
    return std::ranges::any_of(kOfRuns, [&](std::string_view map) { return lies_in(key, map); });
}

/// True if the value is what holds without the key.
bool is_default(const std::string& key, const std::string& value) {
    static const std::map<std::string, std::string> kDefaults = [] {
        std::map<std::string, std::string> defaults;
        const std::vector<text::Key> keys = scenarios::keys_of_plan();
        for (const text::KeyAt& at : text::flattened(keys))
            defaults.emplace(at.path, at.key->otherwise);
        return defaults;
    }();
    const auto at = kDefaults.find(key);
    return at != kDefaults.end() && !value.empty() && at->second == value;
}

/// Without the name of the map in which most keys lie.
std::string_view short_name(std::string_view key) {
    for (const std::string_view map : {"parallel.", "training."})
        if (key.starts_with(map)) return key.substr(map.size());
    return key;
}

}  // namespace

std::string plan_of(const scenarios::Scenario& s) {
    const scenarios::Parallel& parallel = s.parallel;
    std::string words = fmt::format("tensor {}, pipeline {}, data {}", parallel.tensor,
                                    parallel.pipeline, parallel.data);
    if (parallel.context > 1) words += fmt::format(", context {}", parallel.context);
    if (parallel.dynamic_context_parallel) words += ", dynamic context";
    if (parallel.expert > 1) words += fmt::format(", expert {}", parallel.expert);
    if (s.model.has_experts() && parallel.expert_tensor != parallel.tensor)
        words += fmt::format(", expert_tensor {}", parallel.expert_tensor);
    if (s.training.expert_load > 1)
        words += fmt::format(", expert_load {}", s.training.expert_load);
    if (parallel.sequence) words += ", sequence";
    if (parallel.zero_stage > 0) words += fmt::format(", ZeRO-{}", parallel.zero_stage);
    words += fmt::format("; {}", s.schedule.csv.value_or(s.schedule.name));
    if (parallel.stages_per_rank > 1)
        words += fmt::format(" of {} stages per rank", parallel.stages_per_rank);
    if (s.schedule.slices > 1) words += fmt::format(", {} slices", s.schedule.slices);
    words += batch_words(s);
    if (s.training.precision.recipe != models::Recipe::None)
        words += fmt::format("; {}", models::name_of(s.training.precision.recipe));
    words += recompute_words(s.training);
    if (s.training.offload.any()) words += "; offload" + offload_words(s.training.offload);
    if (s.training.lora) words += fmt::format("; adapters of rank {}", s.training.lora->rank);
    return words;
}

std::string settings_of(const scenarios::Scenario& s) {
    std::vector<std::string> of_framework;
    std::vector<std::string> others;
    for (const auto& [key, value] : s.given) {
        if (key.starts_with(kFramework))
            of_framework.push_back(fmt::format("{} {}", key.substr(kFramework.size()), value));
        else if (!is_said(s, key) && !is_default(key, value))
            others.push_back(fmt::format("{} {}", short_name(key), value));
    }
    std::string words = s.framework.name;
    if (!of_framework.empty()) words += fmt::format(" with {}", fmt::join(of_framework, ", "));
    if (!others.empty()) words += fmt::format("; {}", fmt::join(others, ", "));
    return words;
}

std::string whole_plan_of(const scenarios::Scenario& s) {
    return fmt::format("{} on {} GPUs of {}; {}; global batch {}; {}", s.model.name, s.gpus,
                       s.cluster.name, plan_of(s), s.training.global_batch, settings_of(s));
}

}  // namespace debubble::sim
