#include <algorithm>

#include <fmt/format.h>
#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "base/command_line/exit_status.h"
#include "base/diagnostic.h"
#include "base/outputs.h"
#include "base/units.h"
#include "models/architecture_reader.h"
#include "models/counts/counts.h"
#include "models/network/weight_format.h"
#include "sim/commands/terminal/output.h"
#include "sim/report/reference/model_table.h"

/// `debubble model`: parameters, work and memory of a network.
namespace debubble::sim {
namespace {

struct ModelArguments {
    std::string model;
    int stages = 1;
    models::Execution execution;
    std::string recompute = "none";
    std::string attention = "flash";
    std::string json;
    bool list = false;
};

models::Execution execution_of(const ModelArguments& args,
                               const models::Architecture& architecture) {
    models::Execution execution = args.execution;
    if (execution.seq_length == 0) execution.seq_length = usual_seq_length(architecture);
    if (architecture.has_experts()) execution.expert_tensor = execution.tensor;
    execution.recompute = args.recompute == "full"        ? models::Recompute::Full
                          : args.recompute == "selective" ? models::Recompute::Selective
                                                          : models::Recompute::None;
    execution.attention = args.attention == "unfused" ? models::AttentionKernel::Unfused
                                                      : models::AttentionKernel::Flash;
    return execution;
}

std::string line(const std::string& stage, const std::string& layers, const std::string& count,
                 const LayerFigures& f) {
    return fmt::format("{:<6} {:<24} {:>5} {:>16} {:>12.2f} {:>12.2f} {:>12.2f}", stage, layers,
                       count, f.parameters, f.forward_flops / 1e9, f.backward_flops / 1e9,
                       static_cast<double>(f.activations.count) / (1 << 20));
}

/// The parts of a stage other than its layers.
std::string other_parts(const models::Architecture& a, const models::StageContent& content) {
    if (content.embedding && a.tower) return content.head ? "tower, ends" : "tower, embedding";
    if (content.embedding) return content.head ? "embedding, head" : "embedding";
    return content.head ? "head" : "";
}

/// The sums of the table, and the reason where they differ from the published number.
std::string sums_text(const models::Architecture& a, const models::Execution& e,
                      const ParameterSums& sums, std::size_t stages) {
    std::string text;
    if (sums.padded != sums.published)
        text += fmt::format("with the vocabulary padded to a multiple of {}: {} parameters\n",
                            e.kernels.vocabulary_multiple * e.tensor, sums.padded);
    if (sums.listed == sums.padded) return text;
    std::string why;
    if (e.tensor > 1) why = fmt::format("one of {} tensor-parallel ranks holds its part", e.tensor);
    if (a.shares_embedding() && stages > 1)
        why += fmt::format("{}the last stage holds a copy of the embedding",
                           why.empty() ? "" : ", and ");
    return text + fmt::format("the stages below sum to {} parameters: {}\n", sums.listed, why);
}

/// One line for each kind of layer.
std::string layers_text(const models::Architecture& a) {
    std::string text;
    const std::vector<LayerKind> kinds = layer_kinds(a);
    for (const LayerKind& kind : kinds) text += fmt::format("{}: {}\n", kind.name(), kind.words);
    if (kinds.size() > 1)
        text += fmt::format("in order, with a letter for each kind: {}\n", layer_order(a));
    for (const std::string& sentence :
         {models::tower_words(a), models::stream_words(a), models::choice_words(a)})
        if (!sentence.empty()) text += sentence + "\n";
    return text;
}

/// Layers of a stage that are equal, with the figures of one of them.
struct LayerRow {
    std::vector<int> layers;
    LayerFigures one;
};

std::vector<LayerRow> folded(const models::Architecture& a, const StageFigures& stage) {
    std::vector<LayerRow> rows;
    for (const LayerFigures& figures : stage.layers) {
        if (!figures.layer) continue;
        const auto identical = [&](const LayerRow& row) {
            LayerFigures other = row.one;
            other.layer = figures.layer;
            return a.layers.kind_of(row.layers.front()) == a.layers.kind_of(*figures.layer) &&
                   other == figures;
        };
        const auto row = std::ranges::find_if(rows, identical);
        if (row == rows.end())
            rows.push_back({{*figures.layer}, figures});
        else
            row->layers.push_back(*figures.layer);
    }
    return rows;
}

std::string stage_text(const models::Architecture& a, const StageFigures& stage,
                       std::size_t index) {
    const std::string name = fmt::format("{}", index);
    std::string text;
    for (const LayerFigures& figures : stage.layers)
        if (!figures.layer) text += line(name, other_parts(a, stage.content), "", figures) + '\n';
    for (const LayerRow& row : folded(a, stage))
        text +=
            line(name, list_of(row.layers, "-"), fmt::format("{}", row.layers.size()), row.one) +
            '\n';
    return text + line(name, "sum", "", stage.sum) +
           fmt::format("   static {:.2f} GiB\n", gib(stage.static_memory));
}

/// The parts of the published network that are not planned.
std::string left_out_text(const models::Architecture& a, std::int64_t parameters) {
    std::string text;
    for (const std::string& part : a.left_out)
        text += fmt::format("{}{}", text.empty() ? "left out: " : "; ", part);
    if (!text.empty()) text += "\n";
    if (a.tower_parameters > 0)
        text += fmt::format("the vision tower has {} parameters, and both together have {}\n",
                            a.tower_parameters, parameters + a.tower_parameters);
    return text;
}

std::string model_text(const models::Architecture& a, const models::Execution& e,
                       const std::vector<StageFigures>& table) {
    const ParameterSums sums = parameter_sums(a, e, table);
    std::string text = fmt::format("{}: {} parameters; {} layers, hidden {}, vocabulary {}\n",
                                   a.name, sums.published, a.layers.count(), a.hidden, a.vocab);
    if (a.tower)
        text +=
            fmt::format("{} of them are the vision tower's\n", models::tower_parameter_count(a));
    text += layers_text(a);
    text += sums_text(a, e, sums, table.size());
    if (a.has_experts())
        text += fmt::format("a token is computed with {} parameters\n",
                            models::active_parameter_count(a));
    if (!a.source.empty()) text += fmt::format("source: {}\n", a.source);
    text += left_out_text(a, sums.published);
    text += fmt::format(
        "model FLOPs, forward and backward: {:.4g} TFLOP per sample of {} tokens\n"
        "below: one microbatch of {} sample{}, one of {} tensor-parallel ranks; each figure is of "
        "one layer\n\n",
        models::model_flops_per_sample(a, e.seq_length) / 1e12, e.seq_length, e.micro_batch,
        e.micro_batch == 1 ? "" : "s", e.tensor);
    text += fmt::format("{:<6} {:<24} {:>5} {:>16} {:>12} {:>12} {:>12}\n", "stage", "layers",
                        "count", "parameters", "fwd GFLOP", "bwd GFLOP", "saved MiB");
    for (std::size_t i = 0; i < table.size(); ++i) text += stage_text(a, table[i], i);
    return text;
}

std::string models_text() {
    std::string text;
    for (const std::string& name : models::zoo()) text += name + '\n';
    return text;
}

ExitStatus carry_out(const ModelArguments& args) {
    if (args.list) {
        write_output("-", models_text());
        return ExitStatus::Done;
    }
    if (args.model.empty()) throw InputError("a model is required (--list shows the names)");
    const models::Architecture architecture = models::read_model(args.model);
    Outputs outputs;
    outputs.add("--json", args.json);
    outputs.check();
    const models::Execution execution = execution_of(args, architecture);
    const std::vector<StageFigures> table = model_table(architecture, execution, args.stages);
    if (!args.json.empty())
        write_output(args.json, model_json(architecture, execution, table).dump(2) + "\n");
    if (args.json != "-") write_output("-", model_text(architecture, execution, table));
    return ExitStatus::Done;
}

constexpr const char* kModelFooter =
    R"(The model is a name of the zoo, a YAML file, a Hugging Face config.json or the folder that holds
one. Equal layers of a stage are a row, with the figures of one. Saved: activations that the forward keeps for the backward, in the row of the layer that needs
them. Static: parameters, gradients and optimizer state at 18 bytes a parameter (bf16 with fp32 main
parameters, gradients and moments).

Examples:
  debubble model --list
  debubble model llama3-8b --stages 4 --tensor 2
  debubble model gpt2 --seq-length 512 --recompute full --json -)";

}  // namespace

void add_model(CLI::App& program, ExitStatus& answer) {
    auto args = std::make_shared<ModelArguments>();
    args->execution.seq_length = 0;
    CLI::App* verb =
        program.add_subcommand("model", "show parameters, FLOPs and memory of a network");
    verb->add_option("NAME|FILE", args->model,
                     "name of the zoo, YAML file, config.json or its folder");
    verb->add_flag("--list", args->list, "list the zoo");
    verb->add_option("--stages", args->stages, "pipeline stages to cut it into")
        ->check(CLI::Range(1, 65536));
    verb->add_option("--tensor", args->execution.tensor, "tensor-parallel ranks")
        ->check(CLI::Range(1, 65536));
    verb->add_flag("--sequence", args->execution.sequence_parallel, "sequence parallelism");
    verb->add_option("--micro-batch", args->execution.micro_batch, "samples of a microbatch")
        ->check(CLI::Range(1, 1'000'000));
    verb->add_option("--seq-length", args->execution.seq_length,
                     "tokens of a sample (default: what the model was made for, at most 131072)")
        ->check(CLI::Range(1, 100'000'000));
    verb->add_option("--recompute", args->recompute, "none, selective or full")
        ->check(CLI::IsMember({"none", "selective", "full"}));
    verb->add_option("--attention", args->attention, "flash or unfused")
        ->check(CLI::IsMember({"flash", "unfused"}));
    verb->add_option("--json", args->json, "write the figures; - is standard output");
    verb->footer(kModelFooter);
    verb->callback([args, &answer] { answer = carry_out(*args); });
}

}  // namespace debubble::sim
