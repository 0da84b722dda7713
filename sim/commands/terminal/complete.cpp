#include "sim/commands/commands.h"

#include <algorithm>
#include <sstream>

#include <CLI/CLI.hpp>

#include "models/architecture_reader.h"
#include "scenarios/read/read_scenario.h"
#include "schedule/generators/generators.h"
#include "sim/commands/terminal/sibling.h"

namespace debubble::sim {
namespace {

using Words = std::vector<std::string>;

/// The arguments of a verb: its options, the name of its first argument, and words that follow an
/// option.
struct Taken {
    Words options;
    std::string argument;
    std::vector<std::pair<std::string, Words>> choices;  ///< by option, or by `argument`
};

/// The words in "TEXT:{csv,text,json}".
Words words_in(const std::string& type) {
    Words words;
    const std::size_t open = type.find('{');
    const std::size_t close = type.rfind('}');
    if (open == std::string::npos || close == std::string::npos) return words;
    std::istringstream list(type.substr(open + 1, close - open - 1));
    for (std::string word; std::getline(list, word, ',');) words.push_back(word);
    return words;
}

Taken taken_by(const CLI::App& verb) {
    Taken taken;
    for (const CLI::Option* option : verb.get_options()) {
        std::string name = option->get_name();
        if (option->get_positional()) {
            if (taken.argument.empty()) taken.argument = name;
        } else {
            for (const std::string& word : option->get_lnames())
                taken.options.push_back("--" + word);
            for (const std::string& letter : option->get_snames())
                taken.options.push_back("-" + letter);
            if (option->get_lnames().empty()) continue;
            name = "--" + option->get_lnames().front();
        }
        if (Words words = words_in(option->get_type_name()); !words.empty())
            taken.choices.emplace_back(name, std::move(words));
    }
    return taken;
}

/// The first "--option" of a line of help; empty where there is none.
std::string option_in(const std::string& line) {
    constexpr std::string_view kLetters = "abcdefghijklmnopqrstuvwxyz";
    for (auto at = line.find("--"); at != line.npos; at = line.find("--", at + 1)) {
        const auto first = at + 2;
        if (first < line.size() && kLetters.find(line[first]) != kLetters.npos)
            return line.substr(at,
                               line.find_first_not_of("abcdefghijklmnopqrstuvwxyz-", first) - at);
    }
    return {};
}

/// The same for a verb of another program, from its help.
Taken taken_by(const SiblingVerb& verb) {
    const std::string help = help_of(verb);
    Taken taken;
    std::istringstream lines(help);
    for (std::string line; std::getline(lines, line);) {
        if (line.starts_with("Usage:") && line.find("SCENARIO") != std::string::npos)
            taken.argument = "SCENARIO";
        if (!line.starts_with("  -")) continue;
        if (const std::string option = option_in(line); !option.empty())
            taken.options.push_back(option);
    }
    return taken;
}

/// "parallel.tensor=", or with the partial word of a value.
Words settings(const std::string& current) {
    const std::vector<text::Key> keys = scenarios::scenario_keys();
    const std::string path = current.substr(0, current.find('='));
    Words words;
    for (const text::KeyAt& at : text::flattened(keys)) {
        if (current.find('=') == std::string::npos) {
            if (!at.path.starts_with("sweep")) words.push_back(at.path + '=');
            continue;
        }
        if (at.path != path) continue;
        for (const text::Form& form : at.key->forms) {
            if (const auto* known = std::get_if<text::WordForm>(&form.is))
                for (const std::string& word : known->words) words.push_back(path + '=' + word);
            if (const auto* files = std::get_if<text::ShippedForm>(&form.is))
                for (const std::string& name : text::shipped_names(files->folder))
                    words.push_back(path + '=' + name);
            if (std::holds_alternative<text::FlagForm>(form.is))
                for (const char* word : {"true", "false"}) words.push_back(path + '=' + word);
        }
    }
    return words;
}

Words schedule_names() {
    Words names;
    for (const Generator& row : generators()) names.emplace_back(row.name);
    return names;
}

Words arguments_of(const std::string& argument, const CLI::App& program) {
    if (argument == "SCENARIO") return scenarios::shipped_scenarios();
    if (argument == "NAME|FILE") return models::zoo();
    if (argument != "KEY|VERB") return {};
    Words words = verb_names(program);
    const std::vector<text::Key> keys = scenarios::scenario_keys();
    for (const text::KeyAt& at : text::flattened(keys)) words.push_back(at.path);
    return words;
}

Words candidates(const CLI::App& program, std::span<const std::string> words) {
    if (words.size() < 2) return verb_names(program);
    const std::string& current = words.back();
    const std::string& previous = words[words.size() - 2];
    const SiblingVerb* sibling = find_sibling_verb(words.front());
    const auto verbs = program.get_subcommands(
        [&](const CLI::App* verb) { return verb->get_name() == words.front(); });
    if (verbs.empty()) return {};
    const Taken taken = sibling ? taken_by(*sibling) : taken_by(*verbs.front());
    if (previous == "--set") return settings(current);
    if (previous == "--name") return schedule_names();
    if (current.starts_with('-')) return taken.options;
    for (const std::string& word : {previous, taken.argument})
        for (const auto& [option, choices] : taken.choices)
            if (option == word) return choices;
    if (previous.starts_with("--")) return {};
    return arguments_of(taken.argument, program);
}

}  // namespace

std::vector<std::string> verb_names(const CLI::App& program) {
    Words names;
    for (const CLI::App* verb : program.get_subcommands([](const CLI::App*) { return true; }))
        names.push_back(verb->get_name());
    return names;
}

std::vector<std::string> completions(const CLI::App& program, std::span<const std::string> words) {
    const std::string begun = words.empty() ? "" : words.back();
    Words found = candidates(program, words);
    std::erase_if(found, [&](const std::string& word) { return !word.starts_with(begun); });
    return found;
}

}  // namespace debubble::sim
