#include <algorithm>
#include <memory>

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include "base/command_line/exit_status.h"
#include "scenarios/read/read_scenario.h"
#include "schedule/generators/generators.h"
#include "sim/commands/published_plans.h"
#include "sim/commands/terminal/output.h"
#include "text/document_readers.h"
#include "text/shipped_files.h"
#include "text/wording.h"

/// `debubble list`: the shipped files, one per line; for plans with a published step, that step and
/// the predicted one.
namespace debubble::sim {
namespace {

struct Entry {
    std::string name;
    std::string about;
};

/// The value of one key of a shipped file; empty if it has none.
std::string said_in(std::string_view folder, const std::string& name, std::string_view key) {
    const auto file = text::data_folder() / folder / (name + ".yaml");
    const text::NodePtr value = text::read_yaml(file)->get(key);
    return value && value->is(text::Node::Kind::Scalar) ? value->scalar : "";
}

std::vector<Entry> files_in(std::string_view folder, std::string_view key) {
    std::vector<Entry> entries;
    for (const std::string& name : text::shipped_names(folder))
        entries.push_back({name, said_in(folder, name, key)});
    return entries;
}

std::vector<Entry> schedules() {
    std::vector<Entry> entries;
    for (const Generator& row : generators())
        entries.push_back({std::string(row.name), fmt::format("{} [{}]", row.summary, row.source)});
    return entries;
}

struct Listing {
    std::string_view word;
    std::vector<Entry> (*entries)();
};

constexpr std::string_view kScenarios = "scenarios";

constexpr Listing kListings[] = {
    {kScenarios, [] { return files_in("scenarios", "description"); }},
    {"models", [] { return files_in("models/zoo", "source"); }},
    {"clusters", [] { return files_in("scenarios/clusters", "source"); }},
    {"frameworks", [] { return files_in("scenarios/frameworks", "source"); }},
    {"schedules", schedules}};

std::string text_of(const std::vector<Entry>& entries) {
    std::size_t width = 0;
    for (const Entry& entry : entries) width = std::max(width, entry.name.size());
    std::string out;
    for (const Entry& entry : entries) {
        const std::string about = text::shortened(entry.about, text::kReportColumns - width - 2);
        out += about.empty() ? entry.name + '\n'
                             : fmt::format("{:<{}}  {}\n", entry.name, width, about);
    }
    return out;
}

constexpr const char* kListFooter = R"(Examples:
  debubble list scenarios
  debubble list models --names

After the scenarios, those whose authors published a step come once more, with that step beside the
predicted one.)";

/// The words that `debubble list` takes.
std::vector<std::string> listed_kinds() {
    std::vector<std::string> words;
    for (const Listing& listing : kListings) words.emplace_back(listing.word);
    return words;
}

}  // namespace

void add_list(CLI::App& program, ExitStatus& answer) {
    struct Arguments {
        std::string kind;
        bool names = false;
    };
    auto args = std::make_shared<Arguments>();
    CLI::App* verb = program.add_subcommand("list", "list what is shipped");
    verb->add_option("KIND", args->kind, "scenarios, models, clusters, frameworks or schedules")
        ->required()
        ->check(CLI::IsMember(listed_kinds()));
    verb->add_flag("--names", args->names, "names alone");
    verb->footer(kListFooter);
    verb->callback([args, &answer] {
        for (const Listing& listing : kListings) {
            if (listing.word != args->kind) continue;
            std::vector<Entry> entries = listing.entries();
            if (args->names)
                for (Entry& entry : entries) entry.about.clear();
            std::string out = text_of(entries);
            if (listing.word == kScenarios && !args->names)
                out += '\n' + to_text(published_plans());
            write_output("-", out);
        }
        answer = ExitStatus::Done;
    });
}

}  // namespace debubble::sim
