#include <memory>
#include <sstream>

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include "base/diagnostic.h"
#include "base/exit_status.h"
#include "base/outputs.h"
#include "base/printable.h"
#include "scenarios/read_scenario.h"
#include "sim/commands/grid_arguments.h"
#include "sim/commands/output.h"
#include "sim/commands/style.h"
#include "sim/predict.h"
#include "sim/report/profile_report.h"
#include "text/wording.h"
#include "trace/io/trace_formats.h"
#include "trace/picture/svg.h"
#include "trace/profile/open_run.h"

/// `debubble trace`: what a run of another framework did, from its profiler's files.
namespace debubble::sim {
namespace {

struct TraceArguments {
    std::vector<std::string> files;
    std::string scenario;
    std::vector<std::string> set;
    std::string out;
    std::string json;
    std::string svg;
};

/// The run by the plan of a scenario, if there is one.
profile::RunOptions options_of(const TraceArguments& args) {
    profile::RunOptions options;
    if (args.scenario.empty()) return options;
    const scenarios::Scenario scenario =
        scenarios::read_scenario(args.scenario, parse_overrides(args.set));
    const scenarios::Plan plan = priced_plan(scenario);
    options.program = plan.program;
    for (const models::StageContent& stage : plan.stages) options.layers.push_back(stage.layers);
    return options;
}

/// One of our own traces as a run of which everything is known.
profile::ProfiledRun own_run(const std::string& file) {
    profile::ProfiledRun run;
    run.trace = read_trace(file);
    run.clocks.error = run.trace.header.clock_error.ranks;
    run.clocks.shared = true;
    for (int rank = 0; rank < run.trace.header.pipeline; ++rank) {
        profile::RankFacts facts;
        facts.file = file;
        facts.format = fmt::format("debubble ({})", run.trace.header.source);
        facts.global_rank = rank;
        facts.rank = Rank{rank};
        facts.evidence = profile::Evidence::Named;
        for (const Span& span : run.trace.spans)
            facts.anchors += span.rank == facts.rank && span.lane == Lane::Compute;
        facts.fitting = facts.anchors;
        run.ranks.push_back(std::move(facts));
    }
    return run;
}

profile::ProfiledRun read(const TraceArguments& args) {
    const std::vector<std::string> files = profile::trace_files(args.files);
    if (files.size() == 1 && profile::kind_of_trace(files.front()) == profile::TraceKind::Own)
        return own_run(files.front());
    return profile::read_run(files, options_of(args));
}

std::string picture(const ProfileReport& report) {
    const Statistics& s = report.statistics;
    std::ostringstream out;
    write_svg(report.step, s,
              {fmt::format("{}: step {}, bubble {}", report.run.ranks.front().format,
                           text::time_text(seconds(s.step)), text::percent(s.bubble)),
               evidence_words(report.run),
               {}},
              out);
    return std::move(out).str();
}

ExitStatus carry_out(const TraceArguments& args) {
    Outputs outputs;
    outputs.add("--out", args.out);
    outputs.add("--json", args.json);
    outputs.add("--svg", args.svg);
    if (!args.set.empty() && args.scenario.empty())
        throw InputError("--set changes a scenario, and none is given: add --scenario");
    const ProfileReport report = profile_report(read(args));
    outputs.check();
    if (report.step.spans.empty() && (!args.out.empty() || !args.svg.empty()))
        throw InputError(
            fmt::format("{}: no passes were found, so that there is no trace to "
                        "write: neither does a range name one nor attention show one",
                        args.files.front()));
    if (!args.out.empty()) write_output(args.out, trace_text(report.run.trace, args.out));
    if (!args.json.empty()) write_output(args.json, to_json(report));
    if (!args.svg.empty()) write_output(args.svg, picture(report));
    if (args.json != "-" && args.svg != "-" && args.out != "-")
        print_report(printable(to_text(report)));
    return ExitStatus::Done;
}

constexpr const char* kTraceFooter =
    R"(FILES are one file per rank, or folders of them: JSON of torch.profiler, plain or packed by gzip,
or a trace that debubble wrote. Passes are found by the names that torch.distributed.pipelining
gives, else by attention kernels and exchanges; a scenario names the plan that was executed.
--out writes a trace that `compare` and the window open.

Examples:
  debubble trace profiling/traces/iteration_10
  debubble trace rank-0.json.gz rank-1.json.gz --json figures.json --svg timeline.svg
  debubble trace rank-*.json.gz --scenario mine.yaml --out executed.trace.json)";

}  // namespace

void add_trace(CLI::App& program, ExitStatus& answer) {
    auto args = std::make_shared<TraceArguments>();
    CLI::App* verb =
        program.add_subcommand("trace", "show where a profiled run of a framework lost its time");
    verb->add_option("FILES", args->files, "traces of the ranks of one run, or their folder")
        ->required();
    verb->add_option("--scenario", args->scenario, "the plan that was executed");
    verb->add_option("--set", args->set, "key=value of that scenario")->allow_extra_args(false);
    verb->add_option("--out", args->out, "write the trace; by its ending: " + trace_endings());
    verb->add_option("--json", args->json, "write the figures; - is standard output");
    verb->add_option("--svg", args->svg, "write the picture");
    add_style_options(*verb);
    verb->footer(kTraceFooter);
    verb->callback([args, &answer] { answer = carry_out(*args); });
}

}  // namespace debubble::sim
