#include <memory>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>

#include "base/command_line/exit_status.h"
#include "base/diagnostic.h"
#include "base/file.h"
#include "base/outputs.h"
#include "sim/commands/terminal/grid_verbs.h"
#include "sim/commands/terminal/output.h"
#include "sim/measured/accuracy_report.h"
#include "sim/measured/published_runs.h"

/// `debubble validate-cost`: the comparison of predictions with tables of measured training steps.
namespace debubble::sim {
namespace {

struct ValidateCostArguments {
    std::vector<std::string> files;
    std::vector<std::string> set;
    std::vector<std::string> by;
    std::string json;
    std::string svg;
    int jobs = 0;
};

Prediction figures_of(const scenarios::Scenario& scenario, bool reserved) {
    PredictOptions options;
    options.keep_trace = false;
    options.only_where_it_decides = !reserved;
    return predict(scenario, options).prediction;
}

ExitStatus carry_out(const ValidateCostArguments& args) {
    Outputs outputs;
    outputs.add("--json", args.json);
    outputs.add("--svg", args.svg);
    AccuracyReport report;
    report.by = args.by;
    std::vector<MeasuredStep> steps;
    std::string of_runs;
    for (const std::string& file : args.files) {
        const std::string text = read_file(file);
        if (has_published_runs(text)) {
            of_runs += published_runs_text(predict_published_runs(text, file));
            continue;
        }
        report.tables.push_back(file);
        read_measured(text, file, steps);
    }
    outputs.check();
    if (!of_runs.empty()) print_report(printable(of_runs));
    if (steps.empty() && !of_runs.empty()) return ExitStatus::Done;
    report.rows = compare_measured(steps, parse_overrides(args.set), args.jobs, figures_of);
    fit_null_models(report.rows);
    if (!args.json.empty()) write_output(args.json, to_json(report));
    if (!args.svg.empty()) write_output(args.svg, to_svg(report));
    if (args.json != "-" && args.svg != "-") print_report(printable(to_text(report)));
    return ExitStatus::Done;
}

constexpr const char* kValidateCostFooter =
    R"(A table has one JSON object per line: {"row": LABEL, "source": ..., "scenario": {...}, "measured":
{"step_s", "tokens_per_s_per_gpu", "tflops_per_gpu", "peak_gib", "peak_gib_kind"}, "not_stated": [...],
"notes": ...}. The scenario is one as in a scenario's file, whole; or {cluster, gpus, collective, bytes} with
"measured": {"time_s", "busbw_gb_per_s"}. Where it states no micro_batch, or no
stages_per_rank of an interleaved schedule, the fastest that fits is taken; so it is with cuda_graphs and
dispatcher of a "nemo" release, and with communication_dtype, where they are not_stated. Rows that
cannot be predicted are counted with their reasons. The null model is one constant, a rate per GPU,
chosen to fit the rows: a prediction that does worse knows nothing. A table of whole trainings,
{"row", "source", "kind", "run": {...}, "useful": {...}, "inputs", "why"}, is compared by the share of the
time that was useful (bench/measured/runs).

Examples:
  debubble validate-cost measured.jsonl --svg errors.svg
  debubble validate-cost a100.jsonl h100.jsonl --by gpu --by parallel.tensor --json errors.json
  debubble validate-cost measured.jsonl --set framework.release=~)";

}  // namespace

void add_validate_cost(CLI::App& program, ExitStatus& answer) {
    auto args = std::make_shared<ValidateCostArguments>();
    CLI::App* verb =
        program.add_subcommand("validate-cost", "check predictions against tables of measurements");
    verb->add_option("TABLES", args->files, "JSON lines of measured training steps")->required();
    verb->add_option("--set", args->set, "change a key of every row's scenario: key=value")
        ->allow_extra_args(false);
    verb->add_option("--by", args->by, "list the errors by the values of a key, of table or of gpu")
        ->allow_extra_args(false);
    verb->add_option("-j,--jobs", args->jobs, "threads (default: one per core)")
        ->check(CLI::Range(1, 4096));
    verb->add_option("--json", args->json, "write the comparison as JSON; - is standard output");
    verb->add_option("--svg", args->svg,
                     "draw predicted over measured times; - is standard output");
    add_style_options(*verb);
    verb->footer(kValidateCostFooter);
    verb->callback([args, &answer] { answer = carry_out(*args); });
}

}  // namespace debubble::sim
