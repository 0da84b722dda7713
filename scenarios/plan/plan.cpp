#include "scenarios/plan/plan.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/diagnostic.h"
#include "base/file.h"
#include "models/partition/partition.h"
#include "scenarios/plan/derived.h"
#include "scenarios/software/reader.h"
#include "schedule/csv/csv.h"
#include "schedule/generators/generators.h"
#include "schedule/lower.h"

namespace debubble::scenarios {
namespace {

std::string sentences(const std::vector<Violation>& violations) {
    std::string text;
    for (const Violation& v : violations) text += v.message + '\n';
    return text;
}

Schedule imported_schedule(const Scenario& scenario) {
    const ScheduleChoice& choice = scenario.schedule;
    CsvOptions how;
    how.file = *choice.csv;
    how.placement = choice.placement;
    const std::string text = read_file(*choice.csv);
    Schedule schedule = read_csv(text, how).schedule;
    const auto refuse = [&](int line, std::string sentence) {
        throw InputError(std::vector{
            Diagnostic{{*choice.csv, line, 1}, std::move(sentence), line_of(text, line)}});
    };
    // The first superfluous row, or the last row where some are missing.
    const int ranks = schedule.shape.ranks;
    const int pipeline = scenario.parallel.pipeline;
    if (ranks != pipeline)
        refuse(std::min(ranks, pipeline + 1),
               fmt::format("it has {} {}, one per row, but parallel.pipeline is {}", ranks,
                           ranks == 1 ? "rank" : "ranks", pipeline));
    const int micro_batches = schedule.shape.micro_batches;
    if (micro_batches != scenario.training.micro_batches)
        refuse(1, fmt::format("it has {} {}, but the training has {}", micro_batches,
                              micro_batches == 1 ? "microbatch" : "microbatches",
                              scenario.training.micro_batches));
    return schedule;
}

Schedule valid_imported_schedule(const Scenario& scenario) {
    Schedule schedule = imported_schedule(scenario);
    if (auto violations = validate(schedule); !violations.empty())
        throw InvalidSchedule(*scenario.schedule.csv, std::move(violations));
    return schedule;
}

GeneratorOptions options_of(const Scenario& scenario, const std::optional<PipelineCosts>& costs) {
    const ScheduleChoice& choice = scenario.schedule;
    GeneratorOptions options = generator_options_of(choice);
    if (costs) options.costs = *costs;
    // Without a barrier the step is as long as a rank's span, not as the makespan.
    const Generator* generator = find_generator(choice.name);
    if (generator != nullptr && scenario.framework.post_validation &&
        std::ranges::any_of(generator->options,
                            [](const GeneratorOption& o) { return o.key == "objective"; }))
        options.values.try_emplace("objective", "span");
    return options;
}

std::vector<models::StageContent> with_predictions(const Parallel& parallel,
                                                   std::vector<models::StageContent> stages) {
    if (!parallel.prediction_stage) return stages;
    return models::with_predictions_in(*parallel.prediction_stage, std::move(stages));
}

/// The stages that have the table of the embedding: its own, and those of a head tied to it and of
/// multi-token prediction.
std::vector<Stage> holders_of_table(const Scenario& scenario, Stage last) {
    std::vector<Stage> holders{Stage{0}};
    const std::optional<int> predictions = scenario.parallel.prediction_stage;
    if (predictions && *predictions > 0) holders.push_back(Stage{*predictions});
    if (!predictions || scenario.model.tied_embedding) holders.push_back(last);
    if (holders.size() == 1) holders.clear();
    return holders;
}

}  // namespace

InvalidSchedule::InvalidSchedule(const std::string& file, std::vector<Violation> violations)
    : NegativeAnswer(fmt::format("{}: not a valid schedule:\n{}", file, sentences(violations))),
      violations_(std::move(violations)) {}

std::vector<models::StageContent> partition_of(const Scenario& scenario, int stages) {
    const Parallel& parallel = scenario.parallel;
    const int layers = scenario.model.layers.count();
    switch (parallel.partition) {
        case Partition::Explicit:
            return with_predictions(
                parallel, models::explicit_stages(parallel.layers_per_stage, layers, stages));
        // Who knows prices chooses a cut before (sim/choose.h); until then it is the uniform
        // one, which is one of those that are chosen from.
        case Partition::Balanced:
        case Partition::Uniform: break;
    }
    return models::begun_at_choices(
        models::uniform_stages(layers, parallel.pipeline, stages / parallel.pipeline),
        scenario.model.layers);
}

bool needs_costs(const Scenario& scenario) {
    const Generator* generator = find_generator(scenario.schedule.name);
    return !scenario.schedule.csv && generator != nullptr && generator->uses_costs;
}

bool sends_block(const Scenario& scenario) {
    const MessagesBlock blocks = scenario.framework.point_to_point_blocks;
    if (blocks == MessagesBlock::Never || blocks == MessagesBlock::Always)
        return blocks == MessagesBlock::Always;
    // Other orders were made for messages that do not block, and some would wait for ever.
    constexpr std::string_view kOfMegatron[] = {"gpipe", "1f1b", "interleaved-1f1b"};
    const ScheduleChoice& schedule = scenario.schedule;
    const bool whole = schedule.name == "seq-1f1b" && schedule.slices == 1;  // 1F1B itself
    return (whole || std::ranges::find(kOfMegatron, schedule.name) != std::end(kOfMegatron)) &&
           (blocks == MessagesBlock::ByWholeBackward || scenario.parallel.stages_per_rank == 1);
}

Transport transport_of(const Scenario& scenario) {
    const std::optional<Transport>& asked = scenario.framework.transport;
    if (!asked) {
        const auto version = pytorch_of(scenario.framework.release);
        const bool one =
            version && (*version >= PyTorchVersion{2, 15} ||
                        (*version >= PyTorchVersion{2, 10} && *version < PyTorchVersion{2, 12}));
        return one ? Transport::Group : Transport::Pair;
    }
    return *asked == Transport::Batched && !sends_block(scenario) ? Transport::Own : *asked;
}

bool host_waits_for_messages(const Scenario& scenario) {
    if (scenario.parallel.pipeline == 1) return false;
    const MessagesBlock blocks = scenario.framework.point_to_point_blocks;
    return blocks != MessagesBlock::Never &&
           (blocks != MessagesBlock::WithoutChunks || scenario.parallel.stages_per_rank == 1);
}

bool has_bf16_optimizer(const Scenario& scenario) {
    const Precision& precision = scenario.training.precision;
    if (!scenario.framework.bf16_optimizer || scenario.training.offload_optimizer ||
        precision.compute != models::DataType::Bf16 || !precision.main_params)
        return false;
    const bool wide = precision.grads == models::DataType::Fp32;
    return scenario.parallel.zero_stage == 0 ? scenario.parallel.pipeline > 1
                                             : scenario.parallel.zero_stage == 1 && wide;
}

bool is_post_validated(const Scenario& scenario) {
    const Generator* generator = find_generator(scenario.schedule.name);
    return scenario.framework.post_validation && generator != nullptr && generator->splits_backward;
}

LowerOptions lowering_of(const Scenario& scenario, const Schedule& schedule) {
    const Parallel& parallel = scenario.parallel;
    LowerOptions options;
    options.transport = transport_of(scenario);
    options.zero_stage = parallel.zero_stage;
    options.shard_by_stage = parallel.wrap == Wrap::Stage;
    // ZeRO-3 wrapped by layer communicates inside the passes; the options tell lowering so.
    options.data_parallel = scenario.has_replicas();
    options.optimizer = is_post_validated(scenario) ? OptimizerPlacement::PostValidated
                                                    : OptimizerPlacement::Synchronized;
    const Stage last{schedule.stage_count() - 1};
    if (scenario.model.shares_embedding() && schedule.placement.ranks() > 1)
        options.tied = holders_of_table(scenario, last);
    return options;
}

namespace {

Plan imported_plan(const Scenario& scenario) {
    Plan plan;
    plan.schedule = valid_imported_schedule(scenario);
    plan.stages = partition_of(scenario, plan.schedule.stage_count());
    plan.lowering = lowering_of(scenario, plan.schedule);
    plan.program = complete(plan.schedule, plan.lowering);
    auto violations = validate(plan.program);
    if (violations.empty() && shares_streams(plan.lowering.transport))
        violations = validate(plan.program, plan.lowering.transport);
    if (violations.empty()) violations = check_training(plan.program, plan.lowering);
    if (!violations.empty()) throw InvalidSchedule(*scenario.schedule.csv, std::move(violations));
    return plan;
}

Plan generated_plan(const Scenario& scenario, const GeneratorOptions& options) {
    Plan plan;
    plan.schedule = generate(scenario.schedule.name, scenario.pipeline_shape(), options);
    plan.stages = partition_of(scenario, plan.schedule.stage_count());
    plan.lowering = lowering_of(scenario, plan.schedule);
    return plan;
}

}  // namespace

Plan plan_of_passes(const Scenario& scenario, const std::optional<PipelineCosts>& costs) {
    if (scenario.schedule.csv) return imported_plan(scenario);
    return generated_plan(scenario, options_of(scenario, costs));
}

Plan make_plan(const Scenario& scenario, const std::optional<PipelineCosts>& costs) {
    const ScheduleChoice& choice = scenario.schedule;
    if (choice.csv) return imported_plan(scenario);
    const GeneratorOptions options = options_of(scenario, costs);
    Plan plan = generated_plan(scenario, options);
    plan.lowered =
        lowered({choice.name, scenario.pipeline_shape(), options, plan.lowering}, plan.schedule);
    plan.program = plan.lowered ? plan.lowered->program() : lower(plan.schedule, plan.lowering);
    return plan;
}

}  // namespace debubble::scenarios
