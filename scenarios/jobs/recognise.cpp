#include <algorithm>
#include <array>
#include <cctype>
#include <map>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/diagnostic.h"
#include "scenarios/jobs/job.h"

/// Which framework's job a text is, by the weight of all that speaks for each: a program that it
/// starts, a package that it names, settings that only one framework has. A word of only one
/// framework weighs 8; a word that others use too weighs little.
namespace debubble::jobs {
namespace {

enum class Where {
    Anywhere,
    LineStart,  ///< a line begins with it, after blanks
    TopLevel    ///< a line begins with it
};

struct Evidence {
    std::string_view words;
    std::string_view format;
    int weight;
    Where where = Where::Anywhere;
};

constexpr Evidence kOfScripts[] = {{"HybridParallelPlugin(", "colossalai", 12},
                                   {"GeminiPlugin(", "colossalai", 12},
                                   {"colossalai", "colossalai", 5},
                                   {"tp_size=", "colossalai", 1, Where::LineStart},
                                   {"pp_size=", "colossalai", 1, Where::LineStart},
                                   {"--parallelism.", "torchtitan", 8},
                                   {"--training.", "torchtitan", 4},
                                   {"torchtitan", "torchtitan", 6},
                                   {"--activation_checkpoint.", "torchtitan", 4},
                                   {"megatron.bridge", "bridge", 8},
                                   {"model.tensor_model_parallel_size=", "bridge", 8},
                                   {"model.pipeline_model_parallel_size=", "bridge", 8},
                                   {"train.micro_batch_size=", "bridge", 6},
                                   {"train.global_batch_size=", "bridge", 6},
                                   {"mixed_precision=", "bridge", 3},
                                   {"model.num_layers=", "bridge", 4},
                                   {"deepy.py", "gpt-neox", 14},
                                   {"verl.trainer", "verl", 14},
                                   {"actor_rollout_ref.", "verl", 12},
                                   {"megatron sft", "ms-swift", 14},
                                   {"megatron pt", "ms-swift", 14},
                                   {"megatron rlhf", "ms-swift", 14},
                                   {"--tensor_model_parallel_size", "ms-swift", 5},
                                   {"--pipeline_model_parallel_size", "ms-swift", 5},
                                   {"--tensor-model-parallel-size", "megatron", 6},
                                   {"--pipeline-model-parallel-size", "megatron", 6},
                                   {"--num-layers", "megatron", 4},
                                   {"--hidden-size", "megatron", 3},
                                   {"--num-attention-heads", "megatron", 3},
                                   {"--micro-batch-size", "megatron", 3},
                                   {"--model-parallel-size", "megatron", 2},
                                   {"--seq-length", "megatron", 2},
                                   {"pretrain_gpt", "megatron", 6},
                                   {"pretrain_", "megatron", 2},
                                   {"--use-distributed-optimizer", "megatron", 3}};

constexpr Evidence kOfYaml[] = {
    {"megatron.bridge", "bridge", 12},
    {"mixed_precision:", "bridge", 2, Where::TopLevel},
    {"ddp:", "bridge", 2, Where::TopLevel},
    {"comm_overlap:", "bridge", 2, Where::TopLevel},
    {"nemo_automodel", "automodel", 8},
    {"step_scheduler:", "automodel", 6, Where::TopLevel},
    {"recipe:", "automodel", 2, Where::TopLevel},
    {"recipe_args:", "automodel", 4, Where::TopLevel},
    {"modules:", "primus", 4, Where::TopLevel},
    {"pre_trainer:", "primus", 8, Where::LineStart},
    {"post_trainer:", "primus", 8, Where::LineStart},
    {"distributed_type:", "accelerate", 6, Where::TopLevel},
    {"compute_environment:", "accelerate", 6, Where::TopLevel},
    {"megatron_lm_config:", "accelerate", 4, Where::TopLevel},
    {"fsdp_config:", "accelerate", 4, Where::TopLevel},
    {"batch_accumulation_per_replica:", "nanotron", 8, Where::LineStart},
    {"model_config:", "nanotron", 4, Where::LineStart},
    {"parallelism:", "nanotron", 2, Where::TopLevel},
    {"optimizer_factory:", "nanotron", 4, Where::LineStart},
    {"tp_linear_async_communication:", "nanotron", 6, Where::LineStart},
    {"pipe_parallel_size", "gpt-neox", 8, Where::LineStart},
    {"pipe-parallel-size", "gpt-neox", 8, Where::LineStart},
    {"no_weight_tying", "gpt-neox", 6, Where::LineStart},
    {"no-weight-tying", "gpt-neox", 6, Where::LineStart},
    {"gpt_j_residual", "gpt-neox", 4, Where::LineStart},
    {"gpt-j-residual", "gpt-neox", 4, Where::LineStart},
    {"rotary_pct", "gpt-neox", 4, Where::LineStart},
    {"attention_config", "gpt-neox", 4, Where::LineStart},
    {"attention-config", "gpt-neox", 4, Where::LineStart},
    {"train_micro_batch_size_per_gpu", "gpt-neox", 3, Where::LineStart},
    {"MODEL_ARGS:", "megatron", 12, Where::TopLevel},
    {"language_model:", "megatron", 5, Where::TopLevel},
    {"model_parallel:", "megatron", 5, Where::TopLevel}};

constexpr Evidence kOfJson[] = {{"\"zero_optimization\"", "deepspeed", 8},
                                {"\"train_micro_batch_size_per_gpu\"", "deepspeed", 8},
                                {"\"train_batch_size\"", "deepspeed", 8},
                                {"\"gradient_accumulation_steps\"", "deepspeed", 2},
                                {"\"pipe_parallel_size\"", "gpt-neox", 24},
                                {"\"pipe-parallel-size\"", "gpt-neox", 24},
                                {"\"parallelism\"", "torchtitan", 5},
                                {"\"training\"", "torchtitan", 3},
                                {"\"activation_checkpoint\"", "torchtitan", 3}};

constexpr int kLeast = 1;
constexpr int kLeastOfData = 4;  ///< of a YAML or JSON, which may be anything

bool has(std::string_view text, const Evidence& evidence) {
    for (std::size_t at = 0; (at = text.find(evidence.words, at)) != std::string_view::npos; ++at) {
        if (evidence.where == Where::Anywhere) return true;
        std::size_t before = at;
        while (evidence.where == Where::LineStart && before > 0 &&
               (text[before - 1] == ' ' || text[before - 1] == '\t' || text[before - 1] == '"'))
            --before;
        if (before == 0 || text[before - 1] == '\n') return true;
    }
    return false;
}

/// The text without lines that are comments.
std::string without_comments(std::string_view text) {
    std::string plain;
    for (std::size_t at = 0; at < text.size();) {
        const std::size_t end = std::min(text.find('\n', at), text.size());
        const std::string_view line = text.substr(at, end - at);
        const std::size_t first = line.find_first_not_of(" \t");
        if (first == std::string_view::npos || line[first] != '#')
            plain.append(line).push_back('\n');
        at = end + 1;
    }
    return plain;
}

template <std::size_t n>
std::string_view heaviest(std::string_view text, const Evidence (&table)[n], int least) {
    std::map<std::string_view, int> weights;
    for (const Evidence& evidence : table)
        if (has(text, evidence)) weights[evidence.format] += evidence.weight;
    std::string_view best;
    int most = least - 1;
    for (const auto& [format, weight] : weights)
        if (weight > most) {
            best = format;
            most = weight;
        }
    return best;
}

std::string_view guess(std::string_view written, const std::filesystem::path& file) {
    const std::string ending = file.extension().string();
    if (ending == ".toml") return "torchtitan";
    const std::string text = without_comments(written);
    if (ending == ".yaml" || ending == ".yml") return heaviest(text, kOfYaml, kLeastOfData);
    if (ending == ".json") return heaviest(text, kOfJson, kLeastOfData);
    for (const std::string_view format :
         {heaviest(text, kOfScripts, kLeast), heaviest(text, kOfYaml, kLeastOfData)})
        if (!format.empty()) return format;
    return heaviest(text, kOfJson, kLeastOfData);
}

}  // namespace

std::string recognised_format(std::string_view text, const std::filesystem::path& file) {
    const std::string_view format = guess(text, file);
    if (format.empty())
        throw InputError({{{file.string(), 0, 0},
                           fmt::format("unrecognized job format; pass --from: {}",
                                       fmt::join(job_formats(), ", ")),
                           {}}});
    return std::string(format);
}

bool is_job(std::string_view text, const std::filesystem::path& file) {
    return !guess(text, file).empty();
}

}  // namespace debubble::jobs
