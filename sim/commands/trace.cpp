#include <filesystem>
#include <memory>
#include <optional>
#include <ostream>
#include <sstream>

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include "base/command_line/exit_status.h"
#include "base/command_line/progress_line.h"
#include "base/diagnostic.h"
#include "base/file.h"
#include "base/outputs.h"
#include "scenarios/read/read_scenario.h"
#include "sim/commands/terminal/grid_verbs.h"
#include "sim/commands/terminal/output.h"
#include "sim/predict.h"
#include "sim/report/traces/profile_report.h"
#include "text/wording.h"
#include "trace/io/trace_formats.h"
#include "trace/picture/shapes/svg.h"
#include "trace/profile/formats/profile_files.h"
#include "trace/profile/runs/profiled_run.h"

/// `debubble trace`: the actions of another framework's run, from its profiler's files.
namespace debubble::sim {
namespace {

struct TraceArguments {
    std::vector<std::string> files;
    std::string scenario;
    std::vector<std::string> set;
    std::string out;
    std::string json;
    std::string svg;
    std::string html;
    std::string kineto;
    std::vector<int> as_fast;
};

/// A scenario with its plan, if one is given.
struct Asked {
    std::optional<scenarios::Scenario> scenario;
    scenarios::Plan plan;
    std::optional<PredictionWithTrace> answer = {};  ///< what is predicted of it
};

Asked asked(const TraceArguments& args) {
    Asked out;
    if (args.scenario.empty()) {
        if (!args.set.empty())
            throw InputError("--set changes a scenario, and none is given: add --scenario");
        return out;
    }
    ProgressLine line(is_quiet());
    out.scenario = with_choices_made(
        scenarios::read_scenario(args.scenario, parse_overrides(args.set)),
        [&](std::size_t done, std::size_t all) { line.show(choices_words(done, all)); });
    out.plan = priced_plan(*out.scenario);
    return out;
}

profile::RunOptions options_of(const Asked& by) {
    profile::RunOptions options;
    if (!by.scenario) return options;
    options.program = by.plan.program;
    options.layers.emplace();
    for (const models::StageContent& stage : by.plan.stages)
        options.layers->push_back(stage.layers);
    return options;
}

profile::ProfiledRun read(const TraceArguments& args, const Asked& by) {
    return profile::read_any_run(profile::trace_files(args.files), options_of(by));
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

void lay_beside(Asked& by, ProfileReport& report) {
    if (!by.scenario) return;
    by.answer = predict(*by.scenario, {.plan = &by.plan});
    OnCommonGround ground = on_common_ground(by.answer->trace, report.run.trace, by.plan.program);
    report.beside_left_out = std::move(ground.left_out);
    if (ground.executed.spans.empty()) {
        report.beside_left_out.emplace_back("the trace shows no action of the plan");
        return;
    }
    report.beside = compare_report(ground.simulated, ground.executed,
                                   {by.scenario->name, report.run.ranks.front().file});
}

std::vector<std::string> kineto_files(const TraceArguments& args, const Trace& trace) {
    std::vector<std::string> out;
    for (const profile::WrittenRank& rank : profile::written_ranks(trace))
        out.push_back(
            (std::filesystem::path(args.kineto) / fmt::format("rank-{}.json", rank.global_rank))
                .string());
    return out;
}

void write_files(const TraceArguments& args, const Asked& by, const ProfileReport& report) {
    if (!args.out.empty()) {
        Trace trace = report.run.trace;
        if (by.scenario) {
            trace.header.scenario = by.scenario->name;
            trace.program = by.plan.program;
            trace.header.program_hash = program_hash(trace.program);
        }
        write_output(args.out, trace_text(trace, args.out));
    }
    if (!args.json.empty()) write_output(args.json, to_json(report));
    if (!args.svg.empty()) write_output(args.svg, picture(report));
    if (!args.html.empty()) {
        std::optional<PlanOnPage> predicted;
        if (by.answer) predicted = PlanOnPage{&*by.scenario, &*by.answer};
        write_output(args.html,
                     page::page_html(page_of(report, predicted ? &*predicted : nullptr)));
    }
    if (args.kineto.empty()) return;
    const std::vector<std::string> files = kineto_files(args, report.run.trace);
    const auto ranks = profile::written_ranks(report.run.trace);
    for (std::size_t i = 0; i < files.size(); ++i)
        write_file(files[i], [&](std::ostream& out) {
            profile::write_kineto(report.run.trace, ranks[i], out);
        });
}

ExitStatus carry_out(const TraceArguments& args) {
    Asked by = asked(args);
    ProfileReport report = profile_report(read(args, by));
    const bool writes =
        !args.out.empty() || !args.svg.empty() || !args.html.empty() || !args.kineto.empty();
    if (report.step.spans.empty() && (writes || !args.as_fast.empty()))
        throw InputError(
            fmt::format("{}: no passes were found, so there is no trace to "
                        "write: no range names a pass, and no attention kernel shows one",
                        args.files.front()));
    Outputs outputs;
    outputs.add("--out", args.out);
    outputs.add("--json", args.json);
    outputs.add("--svg", args.svg);
    outputs.add("--html", args.html);
    if (!args.kineto.empty())
        for (const std::string& file : kineto_files(args, report.run.trace))
            outputs.add("--kineto", file);
    outputs.check();
    lay_beside(by, report);
    if (!args.as_fast.empty()) {
        std::vector<Rank> ranks;
        for (const int rank : args.as_fast) ranks.push_back(Rank{rank});
        report.what_if = as_fast_as_others(report.run.trace, ranks);
    }
    write_files(args, by, report);
    if (args.json != "-" && args.svg != "-" && args.html != "-" && args.out != "-")
        print_report(printable(to_text(report)));
    return ExitStatus::Done;
}

constexpr const char* kTraceFooter =
    R"(FILES are one file per rank, or folders of them: JSON of torch.profiler, plain or packed by gzip,
databases of Nsight Systems (`nsys export --type sqlite`), or a trace that debubble wrote. Passes are
found by the names that torch.distributed.pipelining gives, else by attention kernels and exchanges.
A scenario names the plan that was executed, and its prediction is laid beside the run. --out writes
a trace that `compare` and the window open.

Examples:
  debubble trace profiling/traces/iteration_10
  debubble trace rank-0.json.gz rank-1.json.gz --json figures.json --svg timeline.svg
  debubble trace rank-*.json.gz --scenario mine.yaml --out executed.trace.json
  debubble trace rank-*.json.gz --as-fast-as-others 3)";

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
    verb->add_option(
        "--html", args->html,
        "write a page to mail: the step to zoom and to play, below its prediction if there "
        "is a scenario, and all figures");
    verb->add_option(
            "--as-fast-as-others", args->as_fast,
            "the step if this pipeline rank computed as fast as the others; several with commas")
        ->delimiter(',')
        ->allow_extra_args(false);
    verb->add_option("--kineto", args->kineto,
                     "write the trace as torch.profiler does, a file per rank, into this folder");
    add_style_options(*verb);
    verb->footer(kTraceFooter);
    verb->callback([args, &answer] { answer = carry_out(*args); });
}

}  // namespace debubble::sim
