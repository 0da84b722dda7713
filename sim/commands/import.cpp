#include <filesystem>
#include <memory>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <CLI/CLI.hpp>

#include "base/command_line/exit_status.h"
#include "base/diagnostic.h"
#include "base/outputs.h"
#include "scenarios/jobs/job.h"
#include "sim/commands/terminal/grid_verbs.h"
#include "sim/commands/terminal/output.h"

/// `debubble import`: a job of another framework as a scenario.
namespace debubble::sim {
namespace {

struct ImportArguments {
    std::string job;
    std::string from;
    std::vector<std::string> set;
    std::vector<std::string> environment;
    std::vector<std::string> arguments;
    std::string out;
    std::vector<std::string> allow;
    bool explain = false;
};

/// Notes that are shown without --explain.
constexpr std::size_t kNotesShown = 10;

void print_notes(const jobs::Imported& imported, bool all) {
    const std::size_t shown =
        all || imported.notes.size() <= kNotesShown ? imported.notes.size() : kNotesShown - 1;
    for (std::size_t i = 0; i < shown; ++i) fmt::print(stderr, "note: {}\n", imported.notes[i]);
    if (shown < imported.notes.size())
        fmt::print(stderr, "{} more notes are in the scenario; --explain shows them too.\n",
                   imported.notes.size() - shown);
}

ExitStatus carry_out(const ImportArguments& args) {
    const jobs::Imported imported =
        jobs::import_job(args.job, args.from, parse_overrides(args.set),
                         std::filesystem::path(args.out).parent_path(),
                         {.allow = args.allow,
                          .started = {jobs::parse_environment(args.environment), args.arguments}});
    Outputs outputs;
    outputs.add("--out", args.out);
    outputs.check();
    const std::string out = args.out.empty() ? "-" : args.out;
    write_output(out, imported.text);
    print_notes(imported, args.explain);
    if (imported.silent > 0)
        fmt::print(stderr, "{} setting{} of the job {} not affect the plan.\n", imported.silent,
                   imported.silent == 1 ? "" : "s", imported.silent == 1 ? "does" : "do");
    if (out != "-")
        fmt::print("{} is the plan of {}, a job of {}.\n", printable(args.out), printable(args.job),
                   imported.format);
    return ExitStatus::Done;
}

constexpr const char* kImportFooter =
    R"(A JOB is a launch script or configuration of another framework, which is recognised or named by
--from. Nothing in it is executed. What a job cannot know comes by --set: cluster=NAME, gpus=N,
vocab=N, any key of a scenario. With what a script is started comes by --env and after --. A flag that
changes the model in a way that cannot be planned is refused by its name; --allow leaves it out.
What the framework itself would refuse is noted first, and the plan goes on.

Examples:
  debubble import train_gpt.sh --set cluster=hgx-h100 --set gpus=64 --out mine.yaml
  debubble import run.sh --env NNODES=4 --set cluster=hgx-h100 -- 7B 4 8
  debubble import train_gpt.sh --set cluster=hgx-h100 --allow use-new-attention --explain
  debubble import llama3_70b.toml --set cluster=hgx-h100 --set gpus=64 | debubble simulate -)";

}  // namespace

void add_import(CLI::App& program, ExitStatus& answer) {
    auto args = std::make_shared<ImportArguments>();
    CLI::App* verb =
        program.add_subcommand("import", "read a job of another framework into a scenario");
    verb->add_option("JOB", args->job, "a launch script or a configuration")->required();
    verb->add_option("--from", args->from, "the framework; recognised if not given")
        ->type_name(fmt::format("TEXT:{{{}}}", fmt::join(jobs::job_formats(), ",")));
    verb->add_option("--set", args->set, "key=value of the scenario that the job does not know")
        ->allow_extra_args(false);
    verb->add_option("--env", args->environment,
                     "NAME=VALUE, a variable of the environment in which the script starts")
        ->allow_extra_args(false);
    verb->add_option("ARG", args->arguments,
                     "the arguments with which the script starts, after --");
    verb->add_option("--out", args->out, "the scenario's file; standard output if not given");
    verb->add_option("--allow", args->allow,
                     "a flag of the job that changes the model, and that the plan ignores")
        ->type_name("FLAG")
        ->allow_extra_args(false);
    verb->add_flag("--explain", args->explain,
                   "show all notes instead of the ten that matter most");
    verb->footer(kImportFooter);
    verb->callback([args, &answer] { answer = carry_out(*args); });
}

}  // namespace debubble::sim
