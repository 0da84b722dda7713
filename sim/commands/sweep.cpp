#include "sim/grid/sweep.h"
#include "sim/grid/results_file.h"

#include <algorithm>
#include <cstdlib>
#include <optional>

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include "base/command_line/exit_status.h"
#include "base/diagnostic.h"
#include "base/outputs.h"
#include "scenarios/check/framework_checks.h"
#include "sim/commands/terminal/grid_verbs.h"
#include "sim/commands/terminal/output.h"
#include "sim/commands/terminal/progress_bar.h"
#include "sim/grid/compare_plans.h"
#include "sim/grid/search.h"

/// `debubble sweep`: every plan of a grid, each as one row of a CSV file.
namespace debubble::sim {
namespace {

constexpr std::size_t kShown = 10;

struct SweepArguments {
    GridArguments grid;
    std::string out;
    std::string worker;
};

/// The worker's place by --worker, else by a launcher's variables; unset for a sweep by itself.
std::optional<WorkerPlace> place_of(const SweepArguments& args) {
    if (!args.worker.empty()) return parse_worker_place(args.worker);
    return launched_place([](const char* name) { return std::getenv(name); });
}

std::string summary(const SweepResult& result, const Grid& grid, const std::string& out,
                    const std::optional<std::string>& by) {
    std::vector<const SweepRow*> fitting;
    std::size_t fit = 0;
    std::size_t impossible = 0;
    std::size_t lacking = 0;
    for (const SweepRow& row : result.rows) {
        if (row.fits) ++fit;
        if (row.fits && !row.twin_of) fitting.push_back(&row);
        if (row.possible()) continue;
        ++(scenarios::says_schedule_is_lacking(row.reason) ? lacking : impossible);
    }
    std::ranges::stable_sort(fitting, std::ranges::greater{},
                             [](const SweepRow* row) { return row->figure("tokens_per_s"); });
    std::string text =
        fmt::format("{} points: {} fit, {} do not fit, {} are impossible\n", result.rows.size(),
                    fit, result.rows.size() - fit - impossible - lacking, impossible);
    text += lacking_text(lacking);
    if (fitting.empty()) return text + fmt::format("the reasons are in {}\n", out);
    text += duplicates_text(result.rows, grid.keys());
    const std::size_t shown = std::min(kShown, fitting.size());
    text +=
        fmt::format("\nthe best {}:\n{}", shown, table_of(std::span(fitting).first(shown), grid));
    if (by) {
        const std::size_t key = place_of_swept_key(grid, *by);
        text += fmt::format(
            "\nthe best for each {}:\n{}", *by,
            best_by_text(best_by(result.rows, grid, key, Objective::TokensPerS), grid, key));
    }
    const std::vector<std::string> keys = grid.keys();
    text += not_apart_text(not_apart_from_best(fitting, keys), keys,
                           fmt::format("of the {} plans that fit", fitting.size()));
    return text + fmt::format("\nall of them: {}\n", out);
}

ExitStatus carry_out(const SweepArguments& args) {
    if (args.out == "-")
        throw InputError(
            "--out -: a sweep continues from the rows in its file, which cannot be "
            "standard output; name a file");
    const std::optional<WorkerPlace> place = place_of(args);
    const Grid grid = read_grid(args.grid);
    Outputs outputs;
    outputs.add("--out", args.out);
    outputs.add("--out", basis_file_of(args.out).string());
    if (place) outputs.add("--out", journal_of(args.out, place->index).string());
    outputs.check();
    Interruption interruption;
    SweepResult result;
    {
        ProgressBar bar;
        ChoiceLine choices;
        BatchOptions options;
        options.jobs = args.grid.jobs;
        options.program = DEBUBBLE_VERSION;
        options.stop = &interruption.flag();
        options.progress = [&](std::size_t done, std::size_t total) {
            bar.show(done, total);
            choices.point_done(done, total);
        };
        options.choosing = [&](std::size_t done, std::size_t all) { choices.show(done, all); };
        result = place ? sweep_as_worker(grid, args.out, *place, options)
                       : sweep(grid, args.out, options);
    }
    if (!result.finished()) {
        fmt::print(stderr,
                   "stopped: {} of {} points are in {}; the same command continues from there\n",
                   result.done, result.total, args.out);
        interruption.end_by_signal();
    }
    if (result.found > 0 && !is_quiet())
        fmt::print(stderr, "{} points were already in {}\n", result.found, args.out);
    if (result.rows.empty()) {
        print_report(
            fmt::format("all {} points are done; another worker has merged them into {}, "
                        "or is doing so\n",
                        result.total, args.out));
        return ExitStatus::Done;
    }
    print_report(summary(result, grid, args.out, args.grid.by));
    const bool any = std::ranges::any_of(result.rows, &SweepRow::fits);
    return any ? ExitStatus::Done : ExitStatus::No;
}

constexpr const char* kSweepFooter = R"(The grid is the scenario's 'sweep:' map, as
  sweep: {parallel.tensor: [1, 2, 4], schedule: [gpipe, 1f1b, zb-h1]}
Each point is appended to the file as it is done. After Ctrl-C or a crash the same command continues
where it stopped. OUT.scenario, in the same folder, records the scenario, --set, the files that the
scenario names and the program; if one of them has changed, the rows are refused. An impossible
point is a row with the reason, and so is one whose schedule the framework's software lacks
(framework.schedules), unless --any-schedule admits it. A misspelt name and a value that no plan can
have (another unit, no number, below its key's least) are mistakes in the grid. Points that make the
same plan (the same program with the same figures) are listed once; in the file, `twin_of` names the
row that they equal by the keys that make no difference. `unvalidated` names the parts of a
prediction that no measured training step covers.
Several processes, on one host or on several with a common folder, share a grid where each is a
--worker: each appends to OUT.worker-I, does its share and then what others have not done, and the
first that sees all points merges them into the file.
Left: memory of a device that remains after the framework's headroom and what is reserved; < says
what remains of what is requested, where the allocator decides nothing and was not played. Causal:
MFU without what masks leave out. Exposed: communication of the step that nothing hides. Without a
terminal, progress is a line a minute. Exit code 1 if no plan fits.

Examples:
  debubble sweep mine.yaml -j 8 --out results.csv
  debubble sweep mine.yaml --out results.csv --by cluster.network.nic_bandwidth)";

}  // namespace

void add_sweep(CLI::App& program, ExitStatus& answer) {
    auto args = std::make_shared<SweepArguments>();
    CLI::App* verb = program.add_subcommand("sweep", "predict every plan of a grid, resumable");
    add_grid_arguments(*verb, args->grid);
    verb->add_option("--out", args->out, "results file (CSV)")->required();
    verb->add_option("--worker", args->worker,
                     "this process's place among several, as 3/8; by default that of an MPI "
                     "rank, or of a task of a Slurm array");
    add_style_options(*verb);
    verb->footer(kSweepFooter);
    verb->callback([args, &answer] { answer = carry_out(*args); });
}

}  // namespace debubble::sim
