#include <csignal>
#include <exception>

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include "base/command_line/arguments.h"
#include "base/diagnostic.h"
#include "sim/commands/commands.h"
#include "sim/commands/terminal/output.h"
#include "sim/commands/terminal/sibling.h"

/// The program `debubble`: finds the verb that was asked for and reports how it ended.
namespace debubble::sim {
namespace {

constexpr const char* kDescription =
    "Plans, predicts, shows and runs the pipeline-parallel training of transformers.";
constexpr const char* kFooter =
    R"(Start with:
  debubble simulate gpt2-xl             what a training step would do, and where it waits
  debubble schedule --name zb-h1 --ranks 4 --micro-batches 8    an order, as text
  debubble VERB --help                           options and examples of a verb
  debubble help KEY                              what a key of a scenario means

Exit codes: 0 done, 1 the answer is no (does not fit, invalid schedule), 2 the input is wrong,
3 the world failed (no device, disk full, a run that a signal ended early).)";

constexpr std::string_view kComplete = "complete";  ///< asked by shells, so that no help names it

void add_all_verbs(CLI::App& program, ExitStatus& answer) {
    program.set_version_flag("--version", "debubble " DEBUBBLE_VERSION);
    program.require_subcommand(1);
    add_verbs(program, answer);
    for (const SiblingVerb& verb : sibling_verbs())  // for the help only: main() runs them
        program.add_subcommand(std::string(verb.name), std::string(verb.summary));
    add_help(program, answer);
}

void check_verb(const CLI::App& program, std::string_view word) {
    const std::vector<std::string> names = verb_names(program);
    if (word.starts_with('-') || std::ranges::find(names, word) != names.end()) return;
    const std::string guess = suggestion(word, names);
    throw InputError(
        fmt::format("unknown verb '{}'{}", word,
                    guess.empty() ? fmt::format("; known: {}", fmt::join(names, ", ")) : guess));
}

ExitStatus run(int argc, char** argv) {
    CLI::App program(kDescription, "debubble");
    program.footer(kFooter);
    program.get_formatter()->column_width(34);
    ExitStatus answer = ExitStatus::Done;
    add_all_verbs(program, answer);
    if (argc < 2) {
        fmt::print("{}", program.help());
        return ExitStatus::BadInput;
    }
    if (argv[1] == kComplete) {
        const std::vector<std::string> words(argv + 2, argv + argc);
        for (const std::string& word : completions(program, words)) fmt::print("{}\n", word);
        flush_standard_output();
        return ExitStatus::Done;
    }
    check_verb(program, argv[1]);
    if (const SiblingVerb* verb = find_sibling_verb(argv[1])) become_sibling(*verb, argv);
    try {
        program.parse(argc, argv);
    } catch (const CLI::Success& help_or_version) {
        program.exit(help_or_version);
    } catch (const CLI::ParseError& error) {
        refuse_arguments(program, error.what());
    }
    flush_standard_output();
    return answer;
}

}  // namespace
}  // namespace debubble::sim

int main(int argc, char** argv) {
    std::signal(SIGPIPE, SIG_DFL);  // `debubble ... | head` ends silently
    std::signal(SIGXFSZ, SIG_IGN);  // a file over the user's limit is one that cannot be written
    try {
        return static_cast<int>(debubble::sim::run(argc, argv));
    } catch (...) {
        return report(debubble::ending_of(std::current_exception()));
    }
}
