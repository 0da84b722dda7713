#include <memory>
#include <optional>
#include <string>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <CLI/CLI.hpp>

#include "base/command_line/exit_status.h"
#include "base/diagnostic.h"
#include "exec/program/sample/saved_network.h"
#include "models/counts/counts.h"
#include "models/graph/graph.h"

/// `debubble export`: writes a checkpoint in a form that other programs read.
namespace debubble::exec {
namespace {

struct ExportArguments {
    std::string checkpoint;
    std::string format;
    std::string out;
    std::string type;
};

constexpr std::pair<const char*, DataType> kTypes[] = {
    {"fp32", DataType::Fp32}, {"bf16", DataType::Bf16}, {"fp16", DataType::Fp16}};

std::optional<DataType> type_of(const std::string& word) {
    if (word.empty()) return std::nullopt;
    for (const auto& [name, type] : kTypes)
        if (word == name) return type;
    throw InputError(fmt::format("--type is '{}'; it can be fp32, bf16 or fp16", word));
}

const char* word(DataType type) {
    for (const auto& [name, known] : kTypes)
        if (type == known) return name;
    return "fp64";
}

ExitStatus carry_out(const ExportArguments& args) {
    if (args.format != "hf")
        throw InputError(
            fmt::format("--format is '{}'; it can be hf, Hugging Face's layout", args.format));
    const std::optional<DataType> type = type_of(args.type);
    const SavedNetwork network = open_saved_network(args.checkpoint);
    for (const std::string& note : network.notes) fmt::print(stderr, "{}\n", note);
    const ExportedNetwork exported = export_network(network, type, args.out);
    fmt::print("{} of {}, {} parameters in {}: {} in {}\n", network.architecture.name,
               network.folder.string(), models::parameter_count(network.architecture),
               word(exported.type), fmt::join(exported.files, ", "), args.out);
    return ExitStatus::Done;
}

constexpr const char* kExportFooter =
    R"(A CHECKPOINT is a folder step_N of a run, or the folder that holds them: the latest counts. The
weights are those that the optimizer steps, fp32 where the training kept main parameters.

Example:
  debubble export checkpoints --format hf --out my-gpt)";

}  // namespace

void add_export(CLI::App& program, ExitStatus& answer) {
    auto args = std::make_shared<ExportArguments>();
    CLI::App* verb = program.add_subcommand("export", "write a checkpoint in Hugging Face layout");
    verb->add_option("CHECKPOINT", args->checkpoint, "folder of a checkpoint")->required();
    verb->add_option("--format", args->format, "hf")->required();
    verb->add_option("--out", args->out, "a new or empty folder")->required();
    verb->add_option("--type", args->type, "fp32, bf16 or fp16; the training's if not given");
    verb->footer(kExportFooter);
    verb->callback([args, &answer] { answer = carry_out(*args); });
}

}  // namespace debubble::exec
