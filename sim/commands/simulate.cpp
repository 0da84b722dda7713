#include <algorithm>
#include <filesystem>
#include <map>
#include <optional>
#include <sstream>

#include <fmt/format.h>
#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "base/command_line/exit_status.h"
#include "base/command_line/progress_line.h"
#include "base/diagnostic.h"
#include "base/file.h"
#include "base/outputs.h"
#include "base/parallel.h"
#include "sim/anchor/anchor.h"
#include "sim/commands/plan_pages.h"
#include "sim/commands/terminal/grid_verbs.h"
#include "sim/commands/terminal/output.h"
#include "sim/explain/plan_run.h"
#include "sim/plan/ordered_plan.h"
#include "sim/plan/plan_kernels.h"
#include "sim/plan/priced_plan.h"
#include "sim/predict.h"
#include "sim/report/figures.h"
#include "sim/report/plan_json.h"
#include "sim/report/report.h"
#include "text/document_readers.h"
#include "trace/io/trace_formats.h"
#include "trace/picture/shapes/svg.h"

/// `debubble simulate`: the prediction of one training step of each scenario.
namespace debubble::sim {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

struct SimulateArguments {
    std::vector<std::string> scenarios;
    std::vector<std::string> set;
    std::string out;
    std::string json;
    std::string trace;
    std::string csv;
    std::string svg;
    std::string html;
    std::string kernels;
    std::string chakra;
    bool chakra_replicas = false;
    std::vector<std::string> anchors;
    std::optional<std::string> expect;
    std::optional<std::string> tokens;
    std::string piped = {};  ///< text from standard input
    bool explain = false;
    bool bill = false;
    bool framework_checks = false;
    ChakraRanks chakra_ranks() const {
        return chakra_replicas ? ChakraRanks::All : ChakraRanks::OfOnePipeline;
    }
};

AskedScenario asked_of(const SimulateArguments& args, const std::string& name) {
    return {name, args.piped, args.set};
}

/// The text on standard input, up to the length of a document.
std::string read_piped() {
    std::string text;
    char buffer[1 << 14];
    for (std::size_t got; (got = std::fread(buffer, 1, sizeof buffer, stdin)) > 0;) {
        text.append(buffer, got);
        if (text.size() > text::kLongestDocument) break;  // which the reader reports
    }
    return text;
}

/// Reads all scenarios, so that all their mistakes are reported together.
std::vector<scenarios::Scenario> read_all(SimulateArguments& args) {
    const std::vector<scenarios::Override> overrides = parse_overrides(args.set, args.tokens);
    if (std::ranges::count(args.scenarios, "-") > 1)
        throw InputError("standard input has one scenario: give - once");
    std::vector<scenarios::Scenario> read;
    std::vector<Diagnostic> mistakes;
    for (const std::string& name : args.scenarios) {
        try {
            if (name == "-") args.piped = read_piped();
            read.push_back(read_scenario_of(asked_of(args, name), overrides));
        } catch (const InputError& error) {
            std::ranges::copy(error.diagnostics(), std::back_inserter(mistakes));
        }
    }
    if (!mistakes.empty()) throw InputError(std::move(mistakes));
    return read;
}

/// The picture and the trace that are written to --out; none without it.
std::vector<std::string> files_in_folder(const SimulateArguments& args,
                                         const scenarios::Scenario& scenario) {
    if (args.out.empty()) return {};
    const std::string name = file_name_of(scenario.name, "scenario's name");
    const std::string start = (fs::path(args.out) / name).string();
    return {start + ".svg", start + ".trace.json"};
}

/// The file of a rank, under the name that ASTRA-sim expects.
std::string chakra_file(const SimulateArguments& args, std::size_t rank) {
    return fmt::format("{}.{}.et", args.chakra, rank);
}

void check_outputs(const SimulateArguments& args,
                   const std::vector<scenarios::Scenario>& scenarios) {
    if (scenarios.size() > 1 && (!args.svg.empty() || !args.trace.empty() || !args.csv.empty() ||
                                 !args.kernels.empty() || !args.chakra.empty()))
        throw InputError(
            "--svg, --trace, --csv, --kernels and --chakra take a single scenario, and there are "
            "several: give --out DIR for a picture and a trace of each, or --html for a page of "
            "them all");
    std::map<std::string, int> times;
    for (const scenarios::Scenario& scenario : scenarios)
        if (!args.out.empty() && ++times[scenario.name] == 2)
            throw InputError(
                fmt::format("two scenarios are named '{}': their files in {} would have "
                            "the same names",
                            scenario.name, args.out));
    Outputs outputs;
    outputs.add("--json", args.json);
    outputs.add("--trace", args.trace);
    outputs.add("--svg", args.svg);
    outputs.add("--csv", args.csv);
    outputs.add("--html", args.html);
    outputs.add("--kernels", args.kernels);
    if (args.chakra_replicas && args.chakra.empty())
        throw InputError("--chakra-replicas needs --chakra");
    if (!args.chakra.empty()) {
        const TraceHeader header =
            header_of(scenarios.front(), scenarios::transport_of(scenarios.front()));
        for (std::size_t rank = 0; rank < chakra_files(header, args.chakra_ranks()); ++rank)
            outputs.add("--chakra", chakra_file(args, rank));
        outputs.add("--chakra", args.chakra + ".groups.json");
    }
    for (const scenarios::Scenario& scenario : scenarios)
        for (const std::string& file : files_in_folder(args, scenario)) outputs.add("--out", file);
    outputs.check();
}

/// The report on the screen needs neither the trace nor the hash of the program.
PredictOptions what_is_written(const SimulateArguments& args) {
    PredictOptions options;
    options.keep_trace = !args.out.empty() || !args.json.empty() || !args.trace.empty() ||
                         !args.csv.empty() || !args.svg.empty() || !args.html.empty() ||
                         !args.chakra.empty();
    options.hash_program = options.keep_trace;
    options.bill = args.bill;
    return options;
}

/// The file of a scenario's argument, as errors name it.
std::string file_of(const std::string& name) {
    return name == "-" ? "standard-input" : scenarios::find_scenario(name).string();
}

std::vector<PredictionWithTrace> predict_all(const SimulateArguments& args,
                                             const std::vector<scenarios::Scenario>& scenarios,
                                             const PredictOptions& options) {
    std::vector<std::optional<PredictionWithTrace>> slots(scenarios.size());
    std::vector<std::vector<Diagnostic>> mistakes(scenarios.size());
    ProgressLine line(is_quiet());
    run_parallel(scenarios.size(), 0, nullptr, [&](std::size_t i) {
        try {
            PredictOptions own = options;
            own.keep_trace |= scenarios[i].schedule.pairs_layers;  // the report says how much it
                                                                   // hides
            own.choosing = [&](std::size_t done, std::size_t all) {
                line.show(fmt::format("{}: {}", scenarios[i].name, choices_words(done, all)));
            };
            slots[i] = predict(scenarios[i], own);
        } catch (const InputError& error) {
            mistakes[i] = error.diagnostics();
            for (Diagnostic& d : mistakes[i])
                if (d.where.file.empty()) d.where.file = file_of(args.scenarios[i]);
        }
    });
    std::vector<Diagnostic> all;
    for (auto& list : mistakes) std::ranges::move(list, std::back_inserter(all));
    if (!all.empty()) throw InputError(std::move(all));
    std::vector<PredictionWithTrace> predictions;
    for (auto& slot : slots) predictions.push_back(std::move(*slot));
    return predictions;
}

using Answers = std::vector<PredictionWithTrace>;

std::string svg_of(const scenarios::Scenario& scenario, const PredictionWithTrace& answer) {
    std::ostringstream out;
    write_svg(answer.trace, answer.statistics, picture_of(scenario, answer), out);
    return std::move(out).str();
}

std::string spans_of(const PredictionWithTrace& answer) {
    std::ostringstream out;
    write_trace_csv(answer.trace, out);
    return std::move(out).str();
}

/// The trace in the format of its file's ending; one for Perfetto records its plan.
std::string trace_of(const scenarios::Scenario& scenario, const PredictionWithTrace& answer,
                     const std::string& file) {
    const TraceFormat* const format = trace_format_named(file);
    if (format != nullptr && format != &trace_formats().front())
        return trace_text(answer.trace, file);
    std::ostringstream out;
    write_chrome_trace(answer.trace, out, plan_json(scenario).dump());
    return std::move(out).str();
}

void write_files(const SimulateArguments& args, const std::vector<scenarios::Scenario>& scenarios,
                 const Answers& answers) {
    if (!args.json.empty()) {
        Json json = Json::array();
        for (std::size_t i = 0; i < answers.size(); ++i) {
            Json one = schema_json("prediction");
            one["plan"] = plan_json(scenarios[i]);
            if (args.framework_checks)
                one["framework_checks"] = framework_checks_json(scenarios[i]);
            one.update(report_json(answers[i]));
            json.push_back(std::move(one));
        }
        write_output(args.json, (answers.size() == 1 ? json[0] : json).dump(2) + "\n");
    }
    if (!args.svg.empty()) write_output(args.svg, svg_of(scenarios.front(), answers.front()));
    if (!args.trace.empty())
        write_output(args.trace, trace_of(scenarios.front(), answers.front(), args.trace));
    if (!args.csv.empty()) write_output(args.csv, spans_of(answers.front()));
    if (!args.html.empty())
        write_output(args.html, plan_pages(asked_of(args, args.scenarios.front()), scenarios,
                                           answers, is_quiet()));
    if (!args.kernels.empty()) {
        const scenarios::Scenario& scenario = scenarios.front();
        write_output(args.kernels, plan_kernels(scenario, ordered_plan(scenario)));
    }
    if (!args.chakra.empty()) {
        const std::string groups = write_chakra(answers.front().trace, args.chakra_ranks(),
                                                [&](std::size_t rank, const std::string& text) {
                                                    write_file(chakra_file(args, rank), text);
                                                });
        write_file(args.chakra + ".groups.json", groups);
    }
    if (args.out.empty()) return;
    for (std::size_t i = 0; i < answers.size(); ++i) {
        const std::vector<std::string> files = files_in_folder(args, scenarios[i]);
        write_file(files[0], svg_of(scenarios[i], answers[i]));
        write_file(files[1], trace_of(scenarios[i], answers[i], files[1]));
    }
}

/// A line or a log belongs to the plan of the scenario's file, without --set.
void add_anchor(const SimulateArguments& args, const std::vector<scenarios::Scenario>& scenarios,
                Answers& answers) {
    if (args.anchors.empty()) return;
    const std::string& first = args.scenarios.front();
    if (first == "-")
        throw InputError("--anchor needs the scenario's file or name, and not standard input");
    const AnchoredBy anchored(read_anchor(args.anchors, scenarios::read_scenario(first)));
    for (std::size_t i = 0; i < answers.size(); ++i)
        answers[i].prediction.anchored = anchored.of(scenarios[i], answers[i].prediction);
    for (std::size_t i = 0; i < answers.size(); ++i)
        plan_run(answers[i].played, answers[i].prediction);
}

/// Prints the expectations that each plan does not meet; true if there are none.
bool meets_all(const std::vector<Expectation>& expected,
               const std::vector<scenarios::Scenario>& scenarios, const Answers& answers) {
    bool all = true;
    for (std::size_t i = 0; i < answers.size(); ++i)
        for (const std::string& sentence :
             unmet(expected, answers[i].prediction, scenarios[i].gpus)) {
            all = false;
            std::fflush(stdout);
            fmt::print(stderr, "{} does not meet {}\n", answers[i].prediction.scenario,
                       printable(sentence));
        }
    return all;
}

ExitStatus carry_out(SimulateArguments args) {
    const auto expected =
        args.expect ? parse_expectations(*args.expect) : std::vector<Expectation>{};
    const std::vector<scenarios::Scenario> scenarios = read_all(args);
    check_outputs(args, scenarios);
    Answers answers = predict_all(args, scenarios, what_is_written(args));
    add_anchor(args, scenarios, answers);
    write_files(args, scenarios, answers);
    const bool quiet = args.json == "-" || args.svg == "-" || args.trace == "-" ||
                       args.csv == "-" || args.html == "-" || args.kernels == "-";
    const ReportOptions style{.color = is_terminal(stdout), .explain = args.explain};
    ExitStatus exit_code =
        meets_all(expected, scenarios, answers) ? ExitStatus::Done : ExitStatus::No;
    for (std::size_t i = 0; i < answers.size(); ++i) {
        if (!quiet)
            print_report(fmt::format("{}{}", i > 0 ? "\n" : "",
                                     report_text(scenarios[i], answers[i], style)));
        if (!quiet && args.framework_checks) print_report(framework_checks_text(scenarios[i]));
        const Prediction& prediction = answers[i].prediction;
        if (prediction.fits) continue;
        std::fflush(stdout);
        fmt::print(stderr, "{} does not fit: {}\n", prediction.scenario, prediction.reason);
        exit_code = ExitStatus::No;
    }
    return exit_code;
}

constexpr const char* kSimulateFooter =
    R"(A SCENARIO is the name of a shipped one or a YAML file; - is standard input. Exit code 1 if it does
not fit in memory, or does not meet what --expect says. With several, --json writes an array and --out DIR gets NAME.svg and NAME.trace.json of each.

Examples:
  debubble simulate gpt2-xl
  debubble simulate gpt2-xl --set parallel.pipeline=4 --set schedule=zb-h1 --json -
  debubble simulate mine.yaml --svg mine.svg --trace mine.trace.json
  debubble simulate mine.yaml --tokens 15T --set reliability=llama3-2024 --set 'price={gpu_hour: 2.5 USD}'
  debubble simulate mine.yaml --expect 'step<15.5s, peak<70GiB, fits')";

}  // namespace

void add_simulate(CLI::App& program, ExitStatus& answer) {
    auto args = std::make_shared<SimulateArguments>();
    CLI::App* verb =
        program.add_subcommand("simulate", "predict time, memory and bubbles of a training step");
    verb->add_option("SCENARIO", args->scenarios, "names or files of scenarios")->required();
    verb->add_option(
            "--set", args->set,
            "key=value of the scenario, as parallel.tensor=4; key=null is the key's default")
        ->allow_extra_args(false);
    add_tokens_option(*verb, args->tokens);
    verb->add_option("--out", args->out, "folder for the picture and the trace of each scenario");
    verb->add_option("--json", args->json, "write the figures; - is standard output");
    verb->add_option("--trace", args->trace, "write the trace; by its ending: " + trace_endings());
    verb->add_option("--csv", args->csv, "write the trace as a table, one row per action");
    verb->add_option("--svg", args->svg, "write the picture");
    verb->add_option("--html", args->html,
                     "write a page to mail: the step to zoom and to play, and all figures; "
                     "several steps share one clock");
    verb->add_option(
        "--kernels", args->kernels,
        "write the shapes of kernels, a line of JSON each, for bench/measure_kernels.py");
    verb->add_option(
            "--chakra", args->chakra,
            "write Chakra execution traces for ASTRA-sim: PREFIX.RANK.et, PREFIX.groups.json")
        ->type_name("PREFIX");
    verb->add_flag("--chakra-replicas", args->chakra_replicas,
                   "write the traces of all ranks instead of one pipeline's");
    verb->add_flag("--framework-checks", args->framework_checks,
                   "list the settings that the framework's own checks would refuse");
    verb->add_option("--anchor", args->anchors,
                     "a measured step: a YAML file, a log of Megatron-LM, torchtitan or Primus, or "
                     "a line of one, a profile, or a memory snapshot of PyTorch, of the scenario "
                     "without --set; corrects the prediction. May be repeated")
        ->type_name("FILE")
        ->allow_extra_args(false);
    verb->add_flag("--bill", args->bill,
                   "list the costs of the step, and the step time if each were free");
    verb->add_option(
            "--expect", args->expect,
            "conditions that the plan must meet, as 'step<15.5s, peak<70GiB, fits'; else the exit "
            "code is 1. Figures: step, exposed, idle, peak, reserved, left, tokens_per_s, "
            "tokens_per_s_per_gpu, mfu, bubble")
        ->type_name("TEXT");
    verb->add_flag("--explain", args->explain,
                   "end the report with the definitions of its figures");
    add_style_options(*verb);
    verb->footer(kSimulateFooter);
    verb->callback([args, &answer] { answer = carry_out(*args); });
}

}  // namespace debubble::sim
