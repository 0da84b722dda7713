#include <fmt/format.h>

#include "base/diagnostic.h"
#include "python/native/request.h"
#include "python/native/verbs.h"
#include "scenarios/plan/plan.h"
#include "schedule/csv/csv.h"
#include "schedule/generators/generators.h"
#include "schedule/lower.h"
#include "schedule/validate.h"
#include "sim/commands/cost_units.h"
#include "sim/predict.h"

/// Orders of passes.
namespace debubble::python {
namespace {

constexpr const char* kEqualCosts = "1,1,1,0";

Json replay_json(const Replay& replay, const sim::CostUnits& units) {
    return {{"makespan", units.in_units(replay.makespan)},
            {"bubble", replay.bubble},
            {"span_bubble", replay.span_bubble},
            {"peak_live", replay.peak_live_until_weight}};
}

std::optional<Placement> placement_of(const Json& request) {
    const std::string text = text_of(request, "placement");
    if (text.empty()) return std::nullopt;
    return read_placement(text, "placement");
}

Json violations_json(const std::vector<Violation>& violations) {
    Json list = Json::array();
    for (const Violation& v : violations)
        list.push_back({{"rank", v.rank.index}, {"position", v.position}, {"message", v.message}});
    return list;
}

Json transports_json(const Schedule& schedule) {
    Json transports = Json::object();
    for (const TransportVerdict& verdict : judge_transports(schedule))
        transports[std::string(name_of(verdict.transport))] = violations_json(verdict.violations);
    return transports;
}

}  // namespace

Answered order(const Json& request, const Progress&) {
    const scenarios::Scenario scenario = sim::with_choices_made(scenario_of(request));
    const scenarios::Plan plan = sim::priced_plan(scenario);
    Json stages = Json::array();
    for (const std::vector<Stage>& of_rank : plan.schedule.placement.stages) {
        Json held = Json::array();
        for (const Stage stage : of_rank) held.push_back(stage.index);
        stages.push_back(std::move(held));
    }
    Json layers = Json::array();
    for (const models::StageContent& stage : plan.stages)
        layers.push_back({{"first_layer", stage.first_layer}, {"layers", stage.layers}});
    return {{{"name", plan.schedule.name},
             {"csv", write_csv(plan.schedule)},
             {"placement", write_placement(plan.schedule.placement)},
             {"stages", std::move(stages)},
             {"content", std::move(layers)},
             {"micro_batches", plan.schedule.shape.micro_batches},
             {"transports", transports_json(plan.schedule)}}};
}

Answered schedule(const Json& request, const Progress&) {
    const std::string name = text_of(request, "name");
    PipelineShape shape;
    shape.ranks = whole_of(request, "ranks", 1);
    const Generator* const generator = find_generator(name);
    const int usual = generator == nullptr ? 1 : generator->stages_per_rank.value_or(1);
    shape.stages_per_rank = whole_of(request, "stages_per_rank", usual);
    shape.micro_batches = whole_of(request, "micro_batches", shape.ranks);
    shape.slices = whole_of(request, "slices", 1);
    GeneratorOptions options;
    if (const auto found = request.find("options"); found != request.end() && found->is_object())
        for (const auto& [key, value] : found->items())
            options.values[key] = value.is_string() ? value.get<std::string>() : value.dump();
    const sim::CostUnits units(text_of(request, "costs", kEqualCosts), std::nullopt, shape);
    options.costs = units.costs();
    const Schedule made = generate(name, shape, options);
    const Replay replayed = replay(made, options.costs);
    Json json{{"name", name},
              {"ranks", shape.ranks},
              {"stages_per_rank", shape.stages_per_rank},
              {"micro_batches", shape.micro_batches},
              {"placement", write_placement(made.placement)},
              {"text", to_text(made)},
              {"csv", write_csv(made)},
              {"svg", sim::picture_of(made, replayed, units)}};
    json["replay"] = replay_json(replayed, units);
    return {std::move(json)};
}

Answered validate(const Json& request, const Progress&) {
    const CsvResult read =
        read_csv(text_of(request, "csv"), {.file = text_of(request, "file", "order"),
                                           .name = "order",
                                           .placement = placement_of(request)});
    const std::vector<Violation> violations = debubble::validate(read.schedule);
    const bool plays = std::ranges::all_of(violations, [](const Violation& v) {
        return v.kind == Violation::Kind::Deadlock || v.kind == Violation::Kind::Exchanged;
    });
    return {{{"valid", violations.empty()},
             {"ranks", read.schedule.shape.ranks},
             {"stages", read.schedule.stage_count()},
             {"micro_batches", read.schedule.shape.micro_batches},
             {"violations", violations_json(violations)},
             {"transports", plays ? transports_json(read.schedule) : Json::object()}}};
}

}  // namespace debubble::python
