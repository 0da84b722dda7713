#include <memory>
#include <optional>

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include "base/exit_status.h"
#include "base/file.h"
#include "base/outputs.h"
#include "base/printable.h"
#include "sim/commands/output.h"
#include "sim/commands/style.h"
#include "sim/report/measured_table.h"
#include "sim/report/validate_cost.h"

/// `debubble validate-cost`: the comparison of predictions with a table of measured training steps.
namespace debubble::sim {
namespace {

struct ValidateCostArguments {
    std::string file;
    std::string cluster;
    std::string framework;
    std::string json;
};

std::optional<std::string> unless_empty(const std::string& text) {
    return text.empty() ? std::nullopt : std::optional(text);
}

ExitStatus carry_out(const ValidateCostArguments& args) {
    const MeasuredTable table =
        read_measured(read_file(args.file), args.file,
                      {unless_empty(args.cluster), unless_empty(args.framework)});
    Outputs outputs;
    outputs.add("--json", args.json);
    outputs.check();
    PredictOptions figures_only;
    figures_only.keep_trace = false;
    figures_only.only_where_it_decides = true;
    const CostValidation validation =
        validate_cost(table, [&](const scenarios::Scenario& scenario) {
            return predict(scenario, figures_only).prediction;
        });
    if (!args.json.empty()) write_output(args.json, to_json(validation));
    if (args.json != "-") print_report(printable(to_text(validation)));
    return ExitStatus::Done;
}

constexpr const char* kValidateCostFooter =
    R"(The table is CSV with one training step per row: a model by hidden, heads, layers (and
params_billion or model), the cut by tensor, pipeline, data or gpus, the batch by global_batch and
micro_batch, and what was measured by iteration_ms, iteration_s or tflops_per_gpu. The null model is
one constant, FLOP/s per GPU, chosen to fit the table: a prediction that does worse knows nothing.

Examples:
  debubble validate-cost measured.csv
  debubble validate-cost measured.csv --cluster hgx-h100 --json errors.json)";

}  // namespace

void add_validate_cost(CLI::App& program, ExitStatus& answer) {
    auto args = std::make_shared<ValidateCostArguments>();
    CLI::App* verb = program.add_subcommand("validate-cost",
                                            "check predictions against a table of measurements");
    verb->add_option("TABLE", args->file, "CSV of measured training steps")->required();
    verb->add_option("--cluster", args->cluster, "cluster name or file instead of the table's own");
    verb->add_option("--framework", args->framework, "framework profile likewise");
    verb->add_option("--json", args->json, "write the comparison as JSON; - is standard output");
    add_style_options(*verb);
    verb->footer(kValidateCostFooter);
    verb->callback([args, &answer] { answer = carry_out(*args); });
}

}  // namespace debubble::sim
