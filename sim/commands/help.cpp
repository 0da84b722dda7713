#include <filesystem>
#include <memory>

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include "base/command_line/arguments.h"
#include "base/diagnostic.h"
#include "base/file.h"
#include "scenarios/read/read_scenario.h"
#include "sim/commands/commands.h"
#include "sim/commands/terminal/output.h"
#include "sim/commands/terminal/sibling.h"
#include "sim/report/reference/key_pages.h"

/// `debubble help`: the meaning of a scenario's key, and the help of a verb.
namespace debubble::sim {
namespace {

using text::Key;
using text::KeyAt;

constexpr const char* kExecPage =
    R"(Usage: debubble-exec VERB ...

debubble starts this program for the verbs that compute on this machine: run, data, calibrate, sample and
export. Their pages are debubble-run(1) and so on; words and exit codes are the same.
)";
constexpr const char* kVersion = DEBUBBLE_VERSION;

struct HelpArguments {
    std::string word;
    std::string schema;
    std::string man;
    bool markdown = false;
};

/// The keys with this path, else those whose path ends in it.
std::vector<KeyAt> matches(const std::vector<KeyAt>& all, const std::string& word) {
    std::vector<KeyAt> found;
    for (const KeyAt& at : all)
        if (at.path == word) return {at};
    for (const KeyAt& at : all)
        if (at.path.ends_with('.' + word)) found.push_back(at);
    return found;
}

[[noreturn]] void refuse(const std::string& word, const std::vector<KeyAt>& all,
                         const std::vector<std::string>& verbs) {
    std::vector<std::string> known = verbs;
    for (const KeyAt& at : all) known.push_back(at.path);
    for (const KeyAt& at : all) known.push_back(at.key->name);
    const std::string guess = suggestion(word, known);
    throw InputError(fmt::format("unknown key or verb '{}'{}", word,
                                 guess.empty() ? "; debubble help lists the keys" : guess));
}

std::string overview(const std::vector<Key>& keys) {
    return "The keys of a scenario (debubble help KEY explains one, and lists the keys in "
           "it):\n\n" +
           key_list(keys, "") + "\ndebubble VERB --help lists the options of a verb.\n";
}

std::string verb_text(const CLI::App& program, const std::string& word) {
    for (const CLI::App* verb : program.get_subcommands([](const CLI::App*) { return true; }))
        if (verb->get_name() == word) return verb->help("debubble");
    return "";
}

std::string answer_text(const HelpArguments& args, const CLI::App& program) {
    const std::vector<Key> keys = scenarios::scenario_keys();
    if (args.markdown) return key_page(keys);
    if (!args.schema.empty()) return key_schema(args.schema, keys);
    if (args.word.empty()) return overview(keys);
    const std::vector<KeyAt> all = text::flattened(keys);
    std::string out = verb_text(program, args.word);
    for (const KeyAt& at : matches(all, args.word)) out += (out.empty() ? "" : "\n") + key_text(at);
    if (out.empty()) refuse(args.word, all, verb_names(program));
    return out;
}

/// Writes debubble(1), a page for every verb, and debubble-scenario(5).
void write_man_pages(const std::string& folder, const CLI::App& program) {
    const auto write = [&](const std::string& name, const std::string& page) {
        write_file((std::filesystem::path(folder) / name).string(), page);
    };
    write("man1/debubble.1",
          verb_man_page("", program.get_description(), program.help(), kVersion));
    for (const CLI::App* verb : program.get_subcommands([](const CLI::App*) { return true; })) {
        const std::string& name = verb->get_name();
        const SiblingVerb* sibling = find_sibling_verb(name);
        const std::string help = sibling ? help_of(*sibling) : verb->help("debubble");
        if (!help.empty())
            write(fmt::format("man1/debubble-{}.1", name),
                  verb_man_page(name, verb->get_description(), help, kVersion));
    }
    write("man1/debubble-exec.1",
          verb_man_page("exec", "computes for debubble", kExecPage, kVersion));
    write("man5/debubble-scenario.5", keys_man_page(scenarios::scenario_keys(), kVersion));
}

/// The help of a verb that another program has.
void become_help_of(const SiblingVerb& verb) {
    std::string words[] = {"debubble", std::string(verb.name), "--help"};
    char* argv[] = {words[0].data(), words[1].data(), words[2].data(), nullptr};
    become_sibling(verb, argv);
}

constexpr const char* kHelpFooter =
    R"(KEY is the path of a key, or its end. A name that is both a verb and a key gets both texts.

Examples:
  debubble help
  debubble help parallel
  debubble help zero_stage
  debubble help simulate
  debubble help --schema scenario > scenario.schema.json)";

}  // namespace

void add_help(CLI::App& program, ExitStatus& answer) {
    auto args = std::make_shared<HelpArguments>();
    CLI::App* verb = program.add_subcommand("help", "explain a key of a scenario, or a verb");
    verb->add_option("KEY|VERB", args->word, "such as parallel.tensor, optimizer or simulate");
    verb->add_flag("--markdown", args->markdown, "write the reference of all keys");
    verb->add_option("--schema", args->schema,
                     "write the JSON Schema of scenario, cluster, framework or model files")
        ->check(CLI::IsMember(schema_names()));
    verb->add_option("--man", args->man, "write the manual into this folder: man1 and man5");
    verb->footer(kHelpFooter);
    verb->callback([args, &program, &answer] {
        if (const SiblingVerb* sibling = find_sibling_verb(args->word)) become_help_of(*sibling);
        answer = ExitStatus::Done;
        if (!args->man.empty()) return write_man_pages(args->man, program);
        write_output("-", answer_text(*args, program));
    });
}

}  // namespace debubble::sim
