#include <memory>
#include <optional>
#include <sstream>

#include <fmt/format.h>
#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "base/command_line/exit_status.h"
#include "base/diagnostic.h"
#include "base/outputs.h"
#include "sim/commands/terminal/output.h"
#include "sim/report/figures.h"
#include "sim/report/traces/compare_report.h"
#include "sim/report/traces/profile_report.h"
#include "text/wording.h"
#include "trace/io/trace_formats.h"
#include "trace/picture/shapes/svg.h"
#include "trace/profile/runs/profiled_run.h"
#include "trace/steps.h"

/// `debubble compare`: the comparison of a prediction with an executed run.
namespace debubble::sim {
namespace {

struct CompareArguments {
    std::string simulated;
    std::string executed;
    std::string json;
    std::string svg;
    std::string html;
};

SvgOptions caption(const Trace& trace, const StepFigures& step, const std::string& file) {
    return {fmt::format("{}: step {}, bubble {}", trace.header.source_name(),
                        text::time_text(seconds(step.step_time)), text::percent(step.bubble)),
            file,
            {}};
}

std::string picture(const Trace& simulated, const Trace& executed, const CompareReport& report) {
    const Trace upper = median_step(simulated);
    const Trace lower = median_step(executed);
    const Statistics of_upper = statistics(upper);
    const Statistics of_lower = statistics(lower);
    const Compared<StepFigures>& step = report.comparison.step;
    std::ostringstream out;
    write_svg_pair({&upper, &of_upper, caption(upper, step.simulated, report.files.simulated)},
                   {&lower, &of_lower, caption(lower, step.executed, report.files.executed)}, out);
    return std::move(out).str();
}

/// A profiler's files of a run of the first trace's program: named by the program, and both traces
/// reduced to their common kinds of actions.
std::optional<OnCommonGround> profiled(const CompareArguments& args, const Trace& simulated) {
    const std::vector<std::string> files = profile::trace_files({args.executed});
    const auto kind = profile::kind_of_trace(files.front());
    if (kind != profile::TraceKind::Kineto && kind != profile::TraceKind::Nsight)
        return std::nullopt;
    if (simulated.program.ranks.empty())
        throw InputError(fmt::format("{} holds no program with which {} could be compared",
                                     args.simulated, args.executed));
    profile::RunOptions options;
    options.program = simulated.program;
    const profile::ProfiledRun run = profile::read_run(files, options);
    return on_common_ground(simulated, run.trace, simulated.program);
}

/// Compares two predictions of `simulate --json`, if both files are such.
std::optional<ExitStatus> compare_plans(const CompareArguments& args) {
    const auto before = read_prediction(args.simulated);
    if (!before) return std::nullopt;
    const auto after = read_prediction(args.executed);
    if (!after)
        throw InputError(fmt::format("{} is a prediction of `simulate --json`, and {} is not",
                                     args.simulated, args.executed));
    if (!args.svg.empty())
        throw InputError("--svg: predictions of `simulate --json` have no timeline; traces do");
    Outputs outputs;
    outputs.add("--json", args.json);
    outputs.check();
    const PredictionChange change = compare_predictions(*before, *after);
    if (!args.json.empty()) write_output(args.json, to_json(change).dump(2) + "\n");
    if (args.json != "-") print_report(printable(to_text(*before, *after, change)));
    return change.moved || !change.fits.empty() ? ExitStatus::No : ExitStatus::Done;
}

ExitStatus carry_out(const CompareArguments& args) {
    if (const auto ended = compare_plans(args)) return *ended;
    Trace simulated = read_trace(args.simulated);
    std::optional<OnCommonGround> ground = profiled(args, simulated);
    if (ground) simulated = std::move(ground->simulated);
    const Trace executed = ground ? std::move(ground->executed) : read_trace(args.executed);
    if (const auto reason = swapped_reason(simulated, executed))
        throw InputError(
            fmt::format("{}: debubble compare {} {}", *reason, args.executed, args.simulated));
    Outputs outputs;
    outputs.add("--json", args.json);
    outputs.add("--svg", args.svg);
    outputs.add("--html", args.html);
    outputs.check();
    if (const auto why_not = why_not_comparable(simulated, executed)) {
        fmt::print(stderr, "{} and {} cannot be compared: {}\n", args.simulated, args.executed,
                   printable(*why_not));
        return ExitStatus::No;
    }
    const CompareReport report =
        compare_report(simulated, executed, {args.simulated, args.executed});
    if (!args.json.empty()) write_output(args.json, to_json(report));
    if (!args.svg.empty()) write_output(args.svg, picture(simulated, executed, report));
    if (!args.html.empty())
        write_output(args.html, page::page_html(page_of(simulated, executed, report)));
    if (args.json != "-" && args.svg != "-" && args.html != "-")
        print_report(printable(to_text(report)));
    return report.order.empty() ? ExitStatus::Done : ExitStatus::No;
}

constexpr const char* kCompareFooter =
    R"(The traces are those of `simulate --trace` and `run --trace`, of the same program; RUN_TRACE may also
be the files of a profiler (`debubble trace --help`), in a folder if there are several. Errors are
(simulated - executed) / executed. Two traces of one kind are compared as the first and the second.
Exit code 1 if the programs differ, or if the executed actions are not those of the program.
Two files of `simulate --json` are compared part by part, and the exit code is 1 if a figure has moved.

Examples:
  debubble simulate mine.yaml --trace simulated.trace.json
  debubble run mine.yaml --trace executed.trace.json
  debubble compare simulated.trace.json executed.trace.json
  debubble compare simulated.trace.json executed.trace.json --json errors.json --svg both.svg
  debubble compare old.json new.json             what has moved since a prediction was kept)";

}  // namespace

void add_compare(CLI::App& program, ExitStatus& answer) {
    auto args = std::make_shared<CompareArguments>();
    CLI::App* verb =
        program.add_subcommand("compare", "compare a run's trace with the predicted one");
    verb->add_option("SIM_TRACE", args->simulated, "trace that `simulate` wrote")->required();
    verb->add_option("RUN_TRACE", args->executed, "trace that `run` wrote")->required();
    verb->add_option("--json", args->json, "write the comparison as JSON; - is standard output");
    verb->add_option("--svg", args->svg, "write both timelines, one above the other");
    verb->add_option("--html", args->html,
                     "write a page to mail: both timelines to zoom and to play, and all figures");
    add_style_options(*verb);
    verb->footer(kCompareFooter);
    verb->callback([args, &answer] { answer = carry_out(*args); });
}

}  // namespace debubble::sim
