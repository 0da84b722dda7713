#include "sim/plan_words.h"

#include <string_view>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "scenarios/packing.h"

namespace debubble::sim {
namespace {

std::string words_of(models::Modules modules) {
    std::vector<std::string_view> words;
    for (const models::Module module : models::kModules)
        if (modules.has(module)) words.push_back(models::name_of(module));
    return fmt::format(" of {}", fmt::join(words, ", "));
}

std::string first_layers(int layers) {
    return layers > 0 ? fmt::format(" in the first {} layers of a stage", layers) : "";
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
    words += fmt::format("; {}", s.schedule.csv.empty() ? s.schedule.name : s.schedule.csv);
    if (parallel.stages_per_rank > 1)
        words += fmt::format(" of {} stages per rank", parallel.stages_per_rank);
    if (s.schedule.slices > 1) words += fmt::format(", {} slices", s.schedule.slices);
    words += batch_words(s);
    if (s.training.precision.recipe != models::Recipe::None)
        words += fmt::format("; {}", models::name_of(s.training.precision.recipe));
    words += recompute_words(s.training);
    if (s.training.offload.any()) words += "; offload" + offload_words(s.training.offload);
    if (s.training.lora.adapts())
        words += fmt::format("; adapters of rank {}", s.training.lora.rank);
    return words;
}

std::string whole_plan_of(const scenarios::Scenario& s) {
    return fmt::format("{} on {} GPUs of {}; {}; global batch {}; {}", s.model.name, s.gpus,
                       s.cluster.name, plan_of(s), s.training.global_batch, s.framework.name);
}

}  // namespace debubble::sim
