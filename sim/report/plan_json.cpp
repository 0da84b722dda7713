#include "sim/report/plan_json.h"

#include <algorithm>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "models/partition/partition.h"
#include "scenarios/plan/packing.h"
#include "sim/plan/plan_words.h"

namespace debubble::sim {
namespace {

using Json = nlohmann::ordered_json;

constexpr int kVersion = 1;

Json cut_json(const scenarios::Scenario& s) {
    const scenarios::Parallel& p = s.parallel;
    Json json{{"tensor", p.tensor},     {"pipeline", p.pipeline},
              {"data", p.data},         {"context", p.context},
              {"expert", p.expert},     {"expert_tensor", p.expert_tensor},
              {"sequence", p.sequence}, {"zero_stage", p.zero_stage}};
    if (p.order != scenarios::RankOrder{}) json["order"] = p.order.text();
    if (!scenarios::packs_in_step(s)) return json;
    json["dynamic_context_parallel"] = p.dynamic_context_parallel;
    json["max_seqlen_per_dp_cp_rank"] = scenarios::rank_capacity(s);
    if (p.dynamic_context_parallel)
        json["min_dynamic_context_parallel_size"] = p.min_dynamic_context_parallel_size;
    return json;
}

/// The layout string of a list of stages; other layouts follow from the model.
std::string listed_layout(const scenarios::Scenario& s) {
    std::vector<models::StageContent> stages;
    for (const int layers : s.parallel.layers_per_stage)
        stages.push_back(
            {0, layers, stages.empty(), stages.size() + 1 == s.parallel.layers_per_stage.size()});
    if (s.parallel.prediction_stage)
        stages = models::with_predictions_in(*s.parallel.prediction_stage, std::move(stages));
    return models::layout_of(stages, s.model.mtp_layers);
}

Json schedule_json(const scenarios::Scenario& s) {
    Json json{{"name", s.schedule.name},
              {"stages_per_rank", s.parallel.stages_per_rank},
              {"slices", s.schedule.slices}};
    if (s.schedule.csv) json["csv"] = *s.schedule.csv;
    return json;
}

Json training_json(const scenarios::Scenario& s) {
    const scenarios::Training& t = s.training;
    const bool flash = t.attention == models::AttentionKernel::Flash;
    Json json{{"global_batch", t.global_batch},
              {"micro_batch", t.micro_batch},
              {"micro_batches", t.micro_batches},
              {"seq_length", t.seq_length},
              {"compute", models::name_of(t.precision.compute)},
              {"recompute", scenarios::recompute_text(t)},
              {"attention", flash ? "flash" : "unfused"}};
    if (scenarios::packs_in_step(s)) json.erase("micro_batches");  // each step differs
    return json;
}

}  // namespace

Json schema_json(std::string_view name) {
    return {{"schema", fmt::format("debubble/{}", name)}, {"version", kVersion}};
}

Json plan_json(const scenarios::Scenario& s) {
    Json parallel = cut_json(s);
    if (!s.parallel.layers_per_stage.empty()) parallel["layout"] = listed_layout(s);
    Json given = Json::object();
    for (const auto& [key, value] : s.given) given[key] = value;
    return {{"words", whole_plan_of(s)},
            {"model", s.model.name},
            {"cluster", s.cluster.name},
            {"framework", s.framework.name},
            {"gpus", s.gpus},
            {"nodes", s.cluster.nodes},
            {"parallel", parallel},
            {"schedule", schedule_json(s)},
            {"training", training_json(s)},
            {"given", std::move(given)}};
}

std::map<std::string, std::string> plan_values(nlohmann::ordered_json plan) {
    const auto text = [](const nlohmann::ordered_json& value) {
        return value.is_string() ? value.get<std::string>() : value.dump();
    };
    plan.erase("words");
    plan.erase("nodes");
    const nlohmann::ordered_json given =
        plan.contains("given") ? plan["given"] : nlohmann::ordered_json::object();
    plan.erase("given");
    std::map<std::string, std::string> values;
    const nlohmann::ordered_json flat = plan.flatten();
    for (const auto& [path, value] : flat.items()) {
        std::string name = path.substr(1);
        std::ranges::replace(name, '/', '.');
        values[name] = text(value);
    }
    for (const auto& [name, value] : given.items())
        if (name.find('.') != std::string::npos) values.try_emplace(name, text(value));
    return values;
}

}  // namespace debubble::sim
