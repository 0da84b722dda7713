#include <fmt/format.h>
#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "base/diagnostic.h"
#include "base/exit_status.h"
#include "base/file.h"
#include "base/outputs.h"
#include "base/printable.h"
#include "schedule/csv.h"
#include "schedule/validate.h"
#include "sim/commands/output.h"
#include "sim/commands/style.h"

/// `debubble validate`: checks that an order finishes, and lists its violations.
namespace debubble::sim {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::size_t kMostShown = 50;

struct ValidateArguments {
    std::string file;
    std::string placement;
    std::string json;
};

/// A named placement takes its size from the file's rows.
Placement placement_of(const std::string& name, const Schedule& inferred) {
    const int ranks = inferred.placement.ranks();
    const int stages = inferred.stage_count();
    if (name == "loop") {
        if (stages % ranks != 0)
            throw InputError(fmt::format("placement 'loop': {} stages do not divide over {} ranks",
                                         stages, ranks));
        return loop_placement(ranks, stages / ranks);
    }
    if (name == "v") return v_placement(ranks);
    if (name == "bidirectional") {
        if (ranks % 2 != 0)
            throw InputError(fmt::format(
                "placement 'bidirectional' needs an even number of ranks, not {}", ranks));
        return bidirectional_placement(ranks);
    }
    return read_placement(read_file(name), name);
}

CsvResult read(const ValidateArguments& args) {
    const std::string text = read_file(args.file);
    CsvResult result = read_csv(text, {.file = args.file, .name = args.file, .placement = {}});
    if (args.placement.empty()) return result;
    return read_csv(text, {.file = args.file,
                           .name = args.file,
                           .placement = placement_of(args.placement, result.schedule)});
}

std::string place_of(const Violation& violation, const Schedule& schedule) {
    const auto rank = static_cast<std::size_t>(violation.rank.index);
    if (rank >= schedule.ranks.size() || violation.position >= schedule.ranks[rank].size())
        return fmt::format("rank {}", rank);
    return fmt::format("rank {}, action {} ({})", rank, violation.position + 1,
                       to_text(schedule.ranks[rank][violation.position]));
}

std::string verdict_text(const Schedule& schedule, const std::vector<Violation>& violations) {
    std::size_t actions = 0;
    for (const ActionList& rank : schedule.ranks) actions += rank.size();
    if (violations.empty())
        return fmt::format(
            "valid: {} actions on {} ranks, {} stages ({} placement), {} "
            "microbatch{}; it finishes with buffered, rendezvous and issue-ordered "
            "sends\n",
            actions, schedule.shape.ranks, schedule.stage_count(), schedule.placement.name(),
            schedule.shape.micro_batches, schedule.shape.micro_batches == 1 ? "" : "es");
    std::string text;
    for (std::size_t i = 0; i < std::min(violations.size(), kMostShown); ++i)
        text += fmt::format("{}: {}\n", place_of(violations[i], schedule), violations[i].message);
    if (violations.size() > kMostShown)
        text += fmt::format("and {} more\n", violations.size() - kMostShown);
    return text + fmt::format("invalid: {} violation{}\n", violations.size(),
                              violations.size() == 1 ? "" : "s");
}

Json verdict_json(const Schedule& schedule, const std::vector<Violation>& violations) {
    Json list = Json::array();
    for (const Violation& v : violations)
        list.push_back({{"rank", v.rank.index},
                        {"position", v.position},
                        {"place", place_of(v, schedule)},
                        {"message", v.message}});
    return {{"schema", "debubble/verdict"},
            {"version", 1},
            {"valid", violations.empty()},
            {"schedule_hash", program_hash(schedule)},
            {"violations", list}};
}

ExitStatus carry_out(const ValidateArguments& args) {
    const CsvResult read_in = read(args);
    Outputs outputs;
    outputs.add("--json", args.json);
    outputs.check();
    if (read_in.dialect == Dialect::UntilPyTorch25)
        fmt::print(stderr,
                   "note: {} is in the dialect of PyTorch 2.5 and older: B is read as "
                   "backward-input, BW as the full backward\n",
                   args.file);
    const std::vector<Violation> violations = validate(read_in.schedule);
    if (!args.json.empty())
        write_output(args.json, verdict_json(read_in.schedule, violations).dump(2) + "\n");
    if (args.json != "-") print_report(printable(verdict_text(read_in.schedule, violations)));
    return violations.empty() ? ExitStatus::Done : ExitStatus::No;
}

constexpr const char* kValidateFooter =
    R"(The file is PyTorch's pipeline schedule CSV: one row per rank, cells such as 0F0, 1B3, 0SEND_F2.
Compute-only files have their sends and receives implied. Exit code 0 if valid, 1 if not.

Examples:
  debubble validate mine.csv
  debubble validate zbv.csv --placement v
  debubble schedule --name 1f1b --ranks 4 --micro-batches 8 --format csv --out 1f1b.csv)";

}  // namespace

void add_validate(CLI::App& program, ExitStatus& answer) {
    auto args = std::make_shared<ValidateArguments>();
    CLI::App* verb = program.add_subcommand("validate", "check a schedule file: does it finish?");
    verb->add_option("FILE", args->file, "schedule CSV")->required();
    verb->add_option("--placement", args->placement,
                     "loop, v, bidirectional, or a file with one row of stages per rank "
                     "(default: read off the rows)");
    verb->add_option("--json", args->json, "write the verdict as JSON; - is standard output");
    add_style_options(*verb);
    verb->footer(kValidateFooter);
    verb->callback([args, &answer] { answer = carry_out(*args); });
}

}  // namespace debubble::sim
