#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/diagnostic.h"
#include "scenarios/jobs/job.h"

namespace debubble::jobs {
namespace {

bool has(std::string_view text, std::string_view word) {
    return text.find(word) != std::string_view::npos;
}

/// True if a line begins with the word, after spaces.
bool begins_line(std::string_view text, std::string_view word) {
    for (std::size_t at = 0; (at = text.find(word, at)) != std::string_view::npos; ++at) {
        std::size_t before = at;
        while (before > 0 && (text[before - 1] == ' ' || text[before - 1] == '"')) --before;
        if (before == 0 || text[before - 1] == '\n') return true;
    }
    return false;
}

std::string_view of_yaml(std::string_view text) {
    if (has(text, "megatron.bridge") ||
        (begins_line(text, "mixed_precision:") && begins_line(text, "ddp:")))
        return "bridge";
    if (begins_line(text, "modules:") && (has(text, "pre_trainer:") || has(text, "post_trainer:")))
        return "primus";
    if (begins_line(text, "distributed_type:") || begins_line(text, "compute_environment:"))
        return "accelerate";
    if (begins_line(text, "MODEL_ARGS:") || begins_line(text, "language_model:") ||
        begins_line(text, "model_parallel:"))
        return "megatron";
    return {};
}

std::string_view of_json(std::string_view text) {
    if (has(text, "\"zero_optimization\"") || has(text, "\"train_micro_batch_size_per_gpu\"") ||
        has(text, "\"train_batch_size\""))
        return "deepspeed";
    if (has(text, "\"parallelism\"") && has(text, "\"training\"")) return "torchtitan";
    return {};
}

std::string_view of_script(std::string_view text) {
    if (has(text, "HybridParallelPlugin") || has(text, "GeminiPlugin") ||
        begins_line(text, "tp_size=") || begins_line(text, "pp_size="))
        return "colossalai";
    if (has(text, "--parallelism.") || has(text, "--training.") || has(text, "torchtitan"))
        return "torchtitan";
    if (has(text, "model.tensor_model_parallel_size=") || has(text, "train.micro_batch_size=") ||
        has(text, "mixed_precision="))
        return "bridge";
    if (has(text, "--tensor-model-parallel-size") || has(text, "--num-layers") ||
        has(text, "--hidden-size") || has(text, "--micro-batch-size"))
        return "megatron";
    return {};
}

std::string_view guess(std::string_view text, const std::filesystem::path& file) {
    const std::string ending = file.extension().string();
    if (ending == ".toml") return "torchtitan";
    if (ending == ".yaml" || ending == ".yml") return of_yaml(text);
    if (ending == ".json") return of_json(text);
    if (const std::string_view format = of_script(text); !format.empty()) return format;
    if (const std::string_view format = of_yaml(text); !format.empty()) return format;
    return of_json(text);
}

}  // namespace

std::string recognised_format(std::string_view text, const std::filesystem::path& file) {
    const std::string_view format = guess(text, file);
    if (format.empty())
        throw InputError({{{file.string(), 0, 0},
                           fmt::format("this is no job that is recognised; say by --from which it "
                                       "is: {}",
                                       fmt::join(job_formats(), ", ")),
                           {}}});
    return std::string(format);
}

bool is_job(std::string_view text, const std::filesystem::path& file) {
    return !guess(text, file).empty();
}

}  // namespace debubble::jobs
