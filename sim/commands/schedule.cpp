#include <cmath>
#include <map>
#include <optional>

#include <fmt/format.h>
#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "base/command_line/arguments.h"
#include "base/command_line/exit_status.h"
#include "base/diagnostic.h"
#include "base/outputs.h"
#include "schedule/csv/csv.h"
#include "schedule/generators/generators.h"
#include "schedule/lower.h"
#include "schedule/replay/replay.h"
#include "schedule/standstill.h"
#include "sim/commands/cost_units.h"
#include "sim/commands/terminal/output.h"

/// `debubble schedule`: the order that a generator writes, and with abstract costs its makespan,
/// bubbles and live activations.
namespace debubble::sim {
namespace {

using Json = nlohmann::ordered_json;

const std::string kEqualCosts = "1,1,1,0";

struct ScheduleArguments {
    std::string name;
    PipelineShape shape{1, 0, 1, 1};  ///< stages_per_rank 0: not given
    std::string format = "text";
    std::string costs;
    std::vector<double> memory_limits;
    std::vector<std::string> options;
    bool lowered = false;
    std::string lower_to;  ///< empty: all passes
    std::string transport;
    bool list = false;
    std::string out = "-";
    std::string svg;
};

/// `--option key=value` as a map; of a repeated key the last value counts.
std::map<std::string, std::string> parse_options(const std::vector<std::string>& texts) {
    std::map<std::string, std::string> values;
    for (const std::string& text : texts) {
        const auto equals = text.find('=');
        if (equals == std::string::npos || equals == 0)
            throw InputError(fmt::format("--option takes key=value, not '{}'", text));
        values[text.substr(0, equals)] = text.substr(equals + 1);
    }
    return values;
}

PipelineShape shape_of(const ScheduleArguments& args) {
    PipelineShape shape = args.shape;
    const Generator* generator = find_generator(args.name);
    if (shape.stages_per_rank == 0)
        shape.stages_per_rank = generator != nullptr ? generator->stages_per_rank.value_or(1) : 1;
    if (shape.computes() > kMostComputes)
        throw InputError(
            fmt::format("{} ranks x {} stages x {} microbatches x {} slices are too "
                        "many actions to write: about {:.0f}, the limit is {:.0f}",
                        shape.ranks, shape.stages_per_rank, shape.micro_batches, shape.slices,
                        shape.computes(), kMostComputes));
    return shape;
}

/// Rounds sums of shares of 1/k, whose last digits are rounding errors.
std::vector<double> without_noise(std::vector<double> values) {
    for (double& value : values) value = std::round(value * 1e9) / 1e9;
    return values;
}

Json figures_json(const Replay& replay, const CostUnits& units) {
    return {{"makespan", units.in_units(replay.makespan)},
            {"bubble", replay.bubble},
            {"span_bubble", replay.span_bubble},
            {"peak_live_until_W", without_noise(replay.peak_live_until_weight)},
            {"peak_live_until_I", without_noise(replay.peak_live_until_input)}};
}

Json schedule_json(const Schedule& schedule) {
    Json json{{"schema", "debubble/schedule"},
              {"version", 1},
              {"name", schedule.name},
              {"ranks", schedule.shape.ranks},
              {"stages_per_rank", schedule.shape.stages_per_rank},
              {"micro_batches", schedule.shape.micro_batches},
              {"slices", schedule.shape.slices}};
    for (const auto& row : schedule.placement.stages) {
        Json stages = Json::array();
        for (const Stage stage : row) stages.push_back(stage.index);
        json["placement"].push_back(stages);
    }
    for (const ActionList& rank : schedule.ranks) {
        Json actions = Json::array();
        for (const Action& action : rank) actions.push_back(to_text(action));
        json["actions"].push_back(actions);
    }
    return json;
}

std::string figures_text(const Replay& replay, const CostUnits& units) {
    return fmt::format(
        "\nmakespan           {:.10g}\nbubble             {:.4f}\nspan bubble        {:.4f}\n"
        "peak live until W  {:.6g}\npeak live until I  {:.6g}\n",
        units.in_units(replay.makespan), replay.bubble, replay.span_bubble,
        fmt::join(without_noise(replay.peak_live_until_weight), " "),
        fmt::join(without_noise(replay.peak_live_until_input), " "));
}

std::string sum_of(const PassChanges& changes) {
    if (changes.unchanged()) return "unchanged";
    std::vector<std::string> parts;
    for (const auto& [word, count] : changes.added)
        parts.push_back(fmt::format("+{} {}", count, word));
    if (changes.moved > 0) parts.push_back(fmt::format("{} moved", changes.moved));
    return fmt::format("{}", fmt::join(parts, ", "));
}

std::string changes_text(const std::vector<PassChanges>& passes) {
    std::string text = "\n";
    for (const PassChanges& changes : passes)
        text +=
            fmt::format("{:<16}{}\n{:16}{}\n", changes.pass, sum_of(changes), "", changes.reason);
    return text;
}

Json changes_json(const std::vector<PassChanges>& passes) {
    Json json = Json::array();
    for (const PassChanges& changes : passes)
        json.push_back({{"pass", changes.pass},
                        {"reason", changes.reason},
                        {"added", changes.added},
                        {"moved", changes.moved}});
    return json;
}

std::string generators_text() {
    std::string text;
    for (const Generator& row : generators()) {
        text += fmt::format("{:<18}{} [{}]\n", row.name, row.summary, row.source);
        for (const GeneratorOption& option : row.options)
            text += fmt::format("{:<20}--option {}: {}\n", "", option.key, option.help);
    }
    return text;
}

std::string answer_text(const ScheduleArguments& args) {
    if (args.list) return generators_text();
    if (args.name.empty()) throw InputError("--name is required (--list shows the names)");
    const PipelineShape shape = shape_of(args);
    GeneratorOptions options;
    options.memory_limits = args.memory_limits;
    options.values = parse_options(args.options);
    std::optional<CostUnits> units;
    const std::string& costs = args.costs.empty() && !args.svg.empty() ? kEqualCosts : args.costs;
    if (!costs.empty()) {
        std::optional<std::string> overlap;
        if (auto said = options.values.extract("overlap")) overlap = said.mapped();
        units.emplace(costs, overlap, shape);
        options.costs = units->costs();
    } else if (options.values.contains("overlap")) {
        throw InputError("--option overlap=X is a cost: give --costs F,I,W,C too");
    }
    Schedule schedule = generate(args.name, shape, options);
    if (const Generator& row = *find_generator(args.name); row.note != nullptr)
        if (const Reason note = row.note(shape)) fmt::print(stderr, "note: {}\n", *note);
    std::optional<Replay> replayed;
    std::optional<Duration> on_streams;
    if (units) replayed = replay(schedule, units->costs());
    if (!args.svg.empty()) write_output(args.svg, picture_of(schedule, *replayed, *units));
    std::vector<PassChanges> passes;
    std::optional<Transport> transport;
    if (!args.transport.empty()) {
        if (!args.lowered)
            throw InputError(
                "--transport is for --lower or --lower-to, which place messages for it");
        transport = transport_named(args.transport);
    }
    if (args.lowered) {
        LowerOptions how;
        how.transport = transport.value_or(Transport::Own);
        if (args.lower_to.empty()) {
            schedule = lower(std::move(schedule), how);
        } else {
            PartlyLowered partly = lower_to(args.lower_to, std::move(schedule), how);
            schedule = std::move(partly.schedule);
            passes = std::move(partly.changes);
        }
        if (units && shares_streams(how.transport))
            on_streams = makespan_on_streams(schedule, how.transport, units->costs());
    }

    if (args.format == "csv") return write_csv(schedule);
    if (args.format == "text")
        return to_text(schedule) + (passes.empty() ? "" : changes_text(passes)) +
               (units ? figures_text(*replayed, *units) : "") +
               (on_streams ? fmt::format("makespan ({})   {:.10g}\n", args.transport,
                                         units->in_units(*on_streams))
                           : "");
    Json json = schedule_json(schedule);
    if (!passes.empty()) json["passes"] = changes_json(passes);
    if (units) json.update(figures_json(*replayed, *units));
    if (on_streams) {
        json["transport"] = args.transport;
        json["transport_makespan"] = units->in_units(*on_streams);
    }
    return json.dump(2) + "\n";
}

constexpr const char* kScheduleFooter = R"(Examples:
  debubble schedule --list
  debubble schedule --name 1f1b --ranks 4 --micro-batches 8
  debubble schedule --name zb-h1 --ranks 4 --micro-batches 8 --costs 1,1,1,0 --format json
  debubble schedule --name interleaved-1f1b --ranks 4 --stages-per-rank 2 --micro-batches 8 \
                    --costs 1/2,1/2,1/2,0 --format json
  debubble schedule --name zb-v --ranks 4 --micro-batches 8 --costs 1,1,1,0.1 --svg zb-v.svg
  debubble schedule --name interleaved-1f1b --ranks 8 --stages-per-rank 2 --micro-batches 16 \
                    --lower --transport group --costs 1/2,1/2,1/2,0.1 --format json
  debubble schedule --name gpipe --ranks 2 --micro-batches 4 --lower-to send-recv
  debubble schedule --name gpipe --ranks 2 --micro-batches 4 --lower --format csv > gpipe.csv)";

}  // namespace

void add_schedule(CLI::App& program, ExitStatus& answer) {
    auto args = std::make_shared<ScheduleArguments>();
    CLI::App* verb = program.add_subcommand("schedule", "write the order of a pipeline schedule");
    verb->add_option("--name", args->name, "which schedule; --list shows them");
    verb->add_flag("--list", args->list, "list the schedules, their papers and options");
    verb->add_option("--ranks", args->shape.ranks, "pipeline ranks p")->check(CLI::Range(1, 65536));
    verb->add_option("--stages-per-rank", args->shape.stages_per_rank,
                     "virtual stages v of each rank (default: what the schedule needs, else 1)")
        ->check(CLI::Range(1, 65536));
    verb->add_option("--micro-batches", args->shape.micro_batches, "microbatches m of a step")
        ->check(CLI::Range(1, 10'000'000));
    verb->add_option("--slices", args->shape.slices, "slices of a sequence (seq-1f1b)")
        ->check(CLI::Range(1, 4096));
    verb->add_option("--format", args->format, "csv (PyTorch's), text or json")
        ->check(CLI::IsMember({"csv", "text", "json"}));
    verb->add_flag("--lower", args->lowered,
                   "with sends, receives, reductions and the optimizer step");
    std::vector<std::string> passes;
    for (const LoweringPass& pass : lowering_passes()) passes.emplace_back(pass.name);
    verb->add_option(
            "--lower-to", args->lower_to,
            "as --lower, but only up to this pass, with what each pass has changed and why it "
            "stands where it does")
        ->check(CLI::IsMember(passes));
    std::vector<std::string> names;
    for (const NamedTransport& named : kTransports) names.emplace_back(named.name);
    verb->add_option("--transport", args->transport,
                     "with --lower or --lower-to: the order finishes on this transport; with "
                     "--costs too, its "
                     "makespan there, where messages wait for each other")
        ->check(CLI::IsMember(names));
    verb->add_option("--costs", args->costs,
                     "F,I,W,C: costs of one stage's forward, backward-input, backward-weight and "
                     "of a link, as 1,1,1,0 or 1/2,0.5,1/2,0; adds makespan, bubbles and peaks");
    verb->add_option(
            "--memory-limit", args->memory_limits,
            "most live microbatches of a rank, for the schedule that searches under it (zb-auto); "
            "or one for each rank, as 6,5,4,4")
        ->delimiter(',')
        ->allow_extra_args(false)
        ->check(real_number(0.001, 1e9));
    verb->add_option("--option", args->options,
                     "key=value of the schedule; overlap=X is the cost of an Overlap")
        ->allow_extra_args(false);
    verb->add_option("--out", args->out, "file to write instead of standard output");
    verb->add_option("--svg", args->svg,
                     "write the picture, drawn with --costs, or costs of 1,1,1,0; - is standard "
                     "output");
    verb->footer(kScheduleFooter);
    verb->callback([args, &answer] {
        args->lowered |= !args->lower_to.empty();
        const bool text_too = args->svg != "-" || args->out != "-";
        Outputs outputs;
        if (text_too) outputs.add("--out", args->out);
        outputs.add("--svg", args->svg);
        outputs.check();
        const std::string text = answer_text(*args);
        if (text_too) write_output(args->out, text);
        answer = ExitStatus::Done;
    });
}

}  // namespace debubble::sim
