#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/diagnostic.h"

namespace debubble {

// The sentences of our programs about a command line that their parser refuses. `App` is CLI::App,
// which this folder does not know.

/// "; did you mean 'x'?", or nothing if no known word is near.
inline std::string suggestion(std::string_view word, const std::vector<std::string>& known) {
    const auto guess = did_you_mean(word, known);
    return guess ? "; did you mean '" + *guess + "'?" : std::string();
}

template <class App>
std::vector<std::string> option_names(const App& verb) {
    std::vector<std::string> names;
    for (const auto* option : verb.get_options())
        for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
    return names;
}

/// `why` gives the parser's words, used for every problem other than arguments that the verb does
/// not take.
template <class App>
[[noreturn]] void refuse_arguments(const App& program, std::string why) {
    const auto parsed = program.get_subcommands();
    if (parsed.empty()) throw InputError(why + "; see debubble --help");
    const App& verb = *parsed.front();
    const std::string& name = verb.get_name();
    if (const auto extras = verb.remaining(); !extras.empty()) {
        const std::string word = extras.front().substr(0, extras.front().find('='));
        why = name + " takes no '" + word + "'" + suggestion(word, option_names(verb));
    }
    throw InputError(why + " (see debubble " + name + " --help)");
}

/// A check of the text of an option that takes a real number from `least` to `most`. It returns
/// nothing if the text is such a number, else a sentence; NaN is refused too.
std::function<std::string(const std::string&)> real_number(double least, double most);

}  // namespace debubble
