#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "base/command_line/exit_status.h"
#include "base/diagnostic.h"
#include "base/file.h"
#include "base/outputs.h"
#include "schedule/csv/csv.h"
#include "schedule/validate.h"
#include "sim/commands/terminal/output.h"

/// `debubble validate`: checks that an order finishes, and lists its violations.
namespace debubble::sim {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::size_t kMostShown = 50;

struct ValidateArguments {
    std::string file;
    std::string placement;
    std::string json;
    std::string transport;
};

/// A named placement whose size is that of the file's rows.
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
    const std::size_t rank = violation.rank.index;
    if (rank >= schedule.ranks.size() || violation.position >= schedule.ranks[rank].size())
        return fmt::format("rank {}", rank);
    return fmt::format("rank {}, action {} ({})", rank, violation.position + 1,
                       to_text(schedule.ranks[rank][violation.position]));
}

bool is_of_transport(const Violation& violation) {
    return violation.kind == Violation::Kind::Deadlock ||
           violation.kind == Violation::Kind::Exchanged;
}

const char* word_for(const TransportVerdict& verdict) {
    if (verdict.violations.empty()) return "finishes";
    return verdict.violations.front().kind == Violation::Kind::Exchanged ? "wrong data" : "hangs";
}

/// "it finishes on own, batched; hangs on pair, group"
std::string sentence_of(const std::vector<TransportVerdict>& all) {
    std::string text;
    for (const char* const word : {"finishes", "hangs", "wrong data"}) {
        std::vector<std::string_view> names;
        for (std::size_t i = 0; i < all.size(); ++i)
            if (std::string_view(word_for(all[i])) == word) names.push_back(kTransports[i].name);
        if (!names.empty())
            text += fmt::format("{}{} on {}", text.empty() ? "it " : "; ",
                                word == std::string_view("wrong data") ? "brings wrong data" : word,
                                fmt::join(names, ", "));
    }
    return text.empty() ? text : text + "\n";
}

/// The software with this transport, and the outcome of the order there.
std::string transports_text(const Schedule& schedule, const std::vector<TransportVerdict>& all) {
    std::string text;
    const bool all_finish =
        std::ranges::all_of(all, [](const auto& verdict) { return verdict.violations.empty(); });
    if (!all.empty() && all_finish) return "it finishes on every transport\n";
    text = sentence_of(all);
    for (std::size_t i = 0; i < all.size(); ++i) {
        text += fmt::format("  {:<14} {:<10}  {}\n", kTransports[i].name, word_for(all[i]),
                            kTransports[i].software);
        for (const Violation& violation : all[i].violations)
            text += fmt::format("    {}: {}\n", place_of(violation, schedule), violation.message);
    }
    return text;
}

std::string verdict_text(const Schedule& schedule, const std::vector<Violation>& violations,
                         const std::vector<TransportVerdict>& transports) {
    std::size_t actions = 0;
    for (const ActionList& rank : schedule.ranks) actions += rank.size();
    std::string text;
    if (violations.empty())
        text = fmt::format(
            "valid: {} actions on {} ranks, {} stages ({} placement), {} microbatch{}\n", actions,
            schedule.shape.ranks, schedule.stage_count(), schedule.placement.name(),
            schedule.shape.micro_batches, schedule.shape.micro_batches == 1 ? "" : "es");
    for (std::size_t i = 0; i < std::min(violations.size(), kMostShown); ++i)
        text += fmt::format("{}: {}\n", place_of(violations[i], schedule), violations[i].message);
    if (violations.size() > kMostShown)
        text += fmt::format("and {} more\n", violations.size() - kMostShown);
    if (!violations.empty())
        text += fmt::format("invalid: {} violation{}\n", violations.size(),
                            violations.size() == 1 ? "" : "s");
    return text + transports_text(schedule, transports);
}

Json violations_json(const Schedule& schedule, const std::vector<Violation>& violations) {
    Json list = Json::array();
    for (const Violation& v : violations)
        list.push_back({{"rank", v.rank.index},
                        {"position", v.position},
                        {"place", place_of(v, schedule)},
                        {"message", v.message}});
    return list;
}

Json verdict_json(const Schedule& schedule, const std::vector<Violation>& violations,
                  const std::vector<TransportVerdict>& transports) {
    Json judged = Json::array();
    for (std::size_t i = 0; i < transports.size(); ++i)
        judged.push_back({{"transport", kTransports[i].name},
                          {"verdict", word_for(transports[i])},
                          {"violations", violations_json(schedule, transports[i].violations)}});
    return {{"schema", "debubble/verdict"},
            {"version", 1},
            {"valid", violations.empty()},
            {"schedule_hash", program_hash(schedule)},
            {"violations", violations_json(schedule, violations)},
            {"transports", judged}};
}

/// The transports that decide the exit code: the named one, else those of this project's executor.
std::vector<Violation> violations_of(const Schedule& schedule, const std::string& transport) {
    return transport.empty() ? validate(schedule)
                             : validate(schedule, transport_named(transport).value());
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
    const Schedule& schedule = read_in.schedule;
    const std::vector<Violation> violations = violations_of(schedule, args.transport);
    std::vector<TransportVerdict> transports;
    if (std::ranges::all_of(violations, is_of_transport)) transports = judge_transports(schedule);
    if (!args.json.empty())
        write_output(args.json, verdict_json(schedule, violations, transports).dump(2) + "\n");
    if (args.json != "-") print_report(printable(verdict_text(schedule, violations, transports)));
    return violations.empty() ? ExitStatus::Done : ExitStatus::No;
}

constexpr const char* kValidateFooter =
    R"(The file is PyTorch's pipeline schedule CSV: one row per rank, cells such as 0F0, 1B3, 0SEND_F2.
Compute-only files have their sends and receives implied, as they are placed for each transport.
How messages travel is part of what an order means: all transports are judged, and the exit code is 0 if
the order finishes on the one that --transport names, 1 if not; without it, on those of this program's own
executor (own, issue-ordered). Sends and receives of two ranks that meet in unlike order exchange their
data without an error: "wrong data".

Examples:
  debubble validate mine.csv
  debubble validate zbv.csv --placement v
  debubble validate mine.csv --transport pair
  debubble schedule --name 1f1b --ranks 4 --micro-batches 8 --format csv --out 1f1b.csv)";

}  // namespace

void add_validate(CLI::App& program, ExitStatus& answer) {
    auto args = std::make_shared<ValidateArguments>();
    CLI::App* verb = program.add_subcommand("validate", "check a schedule file: does it finish?");
    verb->add_option("FILE", args->file, "schedule CSV")->required();
    verb->add_option("--placement", args->placement,
                     "loop, v, bidirectional, or a file with one row of stages per rank "
                     "(default: derived from the rows)");
    std::vector<std::string> names;
    for (const NamedTransport& named : kTransports) names.emplace_back(named.name);
    verb->add_option("--transport", args->transport,
                     "how messages are transferred: decides the exit code")
        ->check(CLI::IsMember(names));
    verb->add_option("--json", args->json, "write the verdict as JSON; - is standard output");
    add_style_options(*verb);
    verb->footer(kValidateFooter);
    verb->callback([args, &answer] { answer = carry_out(*args); });
}

}  // namespace debubble::sim
