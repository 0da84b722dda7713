#include <memory>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include "base/command_line/exit_status.h"
#include "base/diagnostic.h"
#include "exec/program/tiny_data/tiny_data.h"
#include "scenarios/read/read_scenario.h"

/// `debubble data`: makes small data that a scenario can be tried with.
namespace debubble::exec {
namespace {

struct DataArguments {
    std::string scenario;
    std::vector<std::string> set;
};

ExitStatus carry_out(const DataArguments& args) {
    std::vector<scenarios::Override> overrides;
    for (const std::string& text : args.set) overrides.push_back(scenarios::parse_override(text));
    const scenarios::Scenario scenario = scenarios::read_scenario(args.scenario, overrides);
    for (const std::string& sentence : make_tiny_data(scenario)) fmt::print("{}\n", sentence);
    fmt::print("debubble run {} trains on it{}\n", args.scenario,
               args.set.empty() ? "" : ", with the same --set");
    return ExitStatus::Done;
}

constexpr const char* kDataFooter =
    R"(The data lies where the scenario's training.data looks for it, below the current folder. It has the shape
of real data and no meaning: text in a made-up language with a tokenizer for it, token files, or images,
with the vocabulary, lengths and classes of the scenario. Nothing that is there already is replaced.

Examples:
  debubble data gpt2-xl
  debubble data vit-hybrid --set training.global_batch=8)";

}  // namespace

void add_data(CLI::App& program, ExitStatus& answer) {
    auto args = std::make_shared<DataArguments>();
    CLI::App* verb = program.add_subcommand("data", "make small data to try a scenario with");
    verb->add_option("SCENARIO", args->scenario, "name or file of a scenario")->required();
    verb->add_option("--set", args->set,
                     "key=value of the scenario, such as training.data.text=mine.txt")
        ->allow_extra_args(false);
    verb->footer(kDataFooter);
    verb->callback([args, &answer] { answer = carry_out(*args); });
}

}  // namespace debubble::exec
