#include <algorithm>
#include <memory>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <CLI/CLI.hpp>

#include "base/command_line/exit_status.h"
#include "base/command_line/progress_line.h"
#include "base/diagnostic.h"
#include "base/outputs.h"
#include "scenarios/jobs/write/exported.h"
#include "scenarios/read/read_scenario.h"
#include "sim/commands/terminal/grid_verbs.h"
#include "sim/commands/terminal/output.h"
#include "sim/commands/terminal/sibling.h"
#include "sim/predict.h"

/// `debubble export`: a plan as a job of another framework; a checkpoint in Hugging Face layout is
/// written by the sibling that knows checkpoints.
namespace debubble::sim {
namespace {

struct ExportArguments {
    std::string what;
    std::string format;
    std::vector<std::string> set;
    std::string out;
    std::string type;
};

/// Never returns: the sibling takes over.
void export_checkpoint(const ExportArguments& args) {
    if (!args.set.empty()) throw InputError("--set changes a scenario, not a checkpoint");
    if (args.out.empty()) throw InputError("--format hf needs --out, a new or empty folder");
    std::vector<std::string> words{"debubble", "export", args.what, "--format",
                                   "hf",       "--out",  args.out};
    if (!args.type.empty()) words.insert(words.end(), {"--type", args.type});
    std::vector<char*> argv;
    for (std::string& word : words) argv.push_back(word.data());
    argv.push_back(nullptr);
    become_sibling(checkpoint_exporter(), argv.data());
}

/// The scenario with the choices of `auto` and `balanced`, which jobs cannot express.
scenarios::Scenario settled_scenario(const ExportArguments& args) {
    ProgressLine line;
    return with_choices_made(
        scenarios::read_scenario(args.what, parse_overrides(args.set)),
        [&](std::size_t done, std::size_t all) { line.show(choices_words(done, all)); });
}

ExitStatus carry_out(const ExportArguments& args) {
    if (args.format == "hf") export_checkpoint(args);
    const std::vector<std::string> formats = jobs::export_formats();
    if (std::ranges::find(formats, args.format) == formats.end())
        throw InputError(fmt::format("--format is '{}'; it can be {}, or hf for a checkpoint",
                                     args.format, fmt::join(formats, ", ")));
    if (!args.type.empty()) throw InputError("--type is for checkpoints, with --format hf");
    const jobs::Exported exported = jobs::export_job(settled_scenario(args), args.format);
    Outputs outputs;
    outputs.add("--out", args.out);
    outputs.check();
    write_output(args.out.empty() ? "-" : args.out, exported.text);
    for (const jobs::Unsaid& one : exported.unsaid)
        fmt::print(stderr, "note: {}: {}\n", one.key, printable(one.sentence));
    return ExitStatus::Done;
}

constexpr const char* kExportFooter =
    R"(A scenario becomes the flags of its plan, with a sentence for each thing that the framework cannot
do. With --format hf a CHECKPOINT is a folder step_N of a run, or the folder that holds them: the
latest counts, and its weights are those that the optimizer steps.

Examples:
  debubble export gpt3-175b --format megatron --out gpt3.sh
  debubble export checkpoints --format hf --out my-gpt)";

}  // namespace

void add_export(CLI::App& program, ExitStatus& answer) {
    auto args = std::make_shared<ExportArguments>();
    CLI::App* verb = program.add_subcommand(
        "export", "write a plan as a job of another framework, or a checkpoint as Hugging Face's");
    verb->add_option("SCENARIO", args->what, "a scenario, or the folder of a checkpoint")
        ->required();
    verb->add_option("--format", args->format,
                     "the framework; hf, Hugging Face's layout, for a checkpoint")
        ->type_name(fmt::format("TEXT:{{{},hf}}", fmt::join(jobs::export_formats(), ",")))
        ->required();
    verb->add_option("--set", args->set, "key=value of the scenario")->allow_extra_args(false);
    verb->add_option("--out", args->out,
                     "the job's file, standard output if not given; a new or empty folder for hf");
    verb->add_option("--type", args->type,
                     "for hf: fp32, bf16 or fp16; the training's if not given");
    verb->footer(kExportFooter);
    verb->callback([args, &answer] { answer = carry_out(*args); });
}

}  // namespace debubble::sim
