#include <algorithm>

#include <fmt/format.h>

#include "scenarios/jobs/torchtitan/torchtitan.h"

/// Configurations that torchtitan has in Python since 2026-03 and starts by name: `--module llama3
/// --config llama3_70b` (torchtitan b5bcd76c6, models/*/config_registry.py, config/configs.py).
namespace debubble::jobs {
namespace {

struct NamedConfiguration {
    std::string_view name;
    std::string_view flavor;
    std::int64_t tokens;  ///< num_tokens_per_microbatch_per_dp_rank
    std::int64_t length;  ///< max_context_length
    std::string_view recompute;
    std::string_view more;  ///< other settings, "key=value", cut at blanks
};

constexpr std::string_view kInterleaved = "parallelism.pipeline_parallel_schedule=Interleaved1F1B";
constexpr std::string_view kSixteenB =
    "parallelism.pipeline_parallel_schedule=Interleaved1F1B parallelism.expert_parallel_degree=8 "
    "compile.enable=true compile.components=loss";
constexpr std::string_view kSixteenBHybrid =
    "parallelism.pipeline_parallel_schedule=Interleaved1F1B parallelism.expert_parallel_degree=8 "
    "compile.enable=true compile.components=loss parallelism.expert_parallel_comm_backend=hybridep";
constexpr std::string_view k671B =
    "parallelism.pipeline_parallel_schedule=Interleaved1F1B parallelism.expert_parallel_degree=2 "
    "compile.enable=true compile.components=loss";
constexpr std::string_view k671BFloat8 =
    "parallelism.pipeline_parallel_schedule=Interleaved1F1B parallelism.expert_parallel_degree=2 "
    "compile.enable=true compile.components=loss model.converters=float8";
constexpr std::string_view k405B =
    "parallelism.tensor_parallel_degree=8 parallelism.enable_async_tensor_parallel=true "
    "compile.enable=true compile.components=model,loss model.converters=float8";

constexpr NamedConfiguration kNamed[] = {
    {"llama3_debugmodel", "debugmodel", 16384, 2048, "selective", kInterleaved},
    {"llama3_debugmodel_ce_loss", "debugmodel", 16384, 2048, "selective", kInterleaved},
    {"llama3_8b", "8B", 8192, 8192, "selective", ""},
    {"llama3_8b_mxfp8", "8B", 8192, 8192, "selective",
     "compile.enable=true compile.components=model model.converters=mx"},
    {"llama3_70b", "70B", 65536, 8192, "full", "parallelism.tensor_parallel_degree=8"},
    {"llama3_405b", "405B", 16384, 8192, "full", k405B},
    {"deepseek_v3_16b", "16B", 16384, 4096, "selective", kSixteenB},
    {"deepseek_v3_16b_hybridep", "16B", 16384, 4096, "selective", kSixteenBHybrid},
    {"deepseek_v3_671b", "671B", 16384, 4096, "selective", k671B},
    {"deepseek_v3_671b_float8", "671B", 16384, 4096, "selective", k671BFloat8},
    {"qwen3_0_6b", "0.6B", 16384, 4096, "selective", ""},
    {"qwen3_1_7b", "1.7B", 16384, 4096, "selective", ""},
    {"qwen3_14b", "14B", 16384, 4096, "full", ""},
    {"qwen3_30b_a3b", "30B-A3B", 8192, 4096, "full", ""},
    {"qwen3_32b", "32B", 8192, 4096, "full", ""},
    {"gpt_oss_20b", "20b", 8192, 8192, "full", ""},
    {"gpt_oss_120b", "120b", 8192, 8192, "full", ""}};

}  // namespace

bool add_titan_configuration(Reading& job) {
    const Setting* const named = job.in.find("config");
    if (named == nullptr || !named->known || !named->value->is(text::Node::Kind::Scalar))
        return false;
    const std::string name = named->value->scalar;
    const auto* const found =
        std::ranges::find(kNamed, std::string_view(name), &NamedConfiguration::name);
    if (found == std::end(kNamed)) {
        job.refuse(
            *named,
            fmt::format("the configuration '{}' is defined in Python and unknown; use one of "
                        "torchtitan's own (llama3_8b, llama3_70b, deepseek_v3_16b, qwen3_32b, ...) "
                        "with flags for the differences, or give the job as TOML",
                        name));
        return true;
    }
    Settings all;
    const auto add = [&](std::string_view key, std::string_view value) {
        all.add({std::string(key), fmt::format("{} of {}", key, name),
                 text::make_scalar(std::string(value), named->place), named->place, true});
    };
    add("model.flavor", found->flavor);
    add("training.num_tokens_per_microbatch_per_dp_rank", std::to_string(found->tokens));
    add("training.max_context_length", std::to_string(found->length));
    add("activation_checkpoint.mode", found->recompute);
    add("activation_checkpoint.selective_ac_option", "op");
    for (std::string_view rest = found->more; !rest.empty();) {
        const std::size_t end = std::min(rest.find(' '), rest.size());
        const std::string_view word = rest.substr(0, end);
        const std::size_t equals = word.find('=');
        add(word.substr(0, equals), word.substr(equals + 1));
        rest.remove_prefix(std::min(end + 1, rest.size()));
    }
    std::vector<Setting> flags = job.in.all();  // which win
    job.in.transform([](Setting&) { return false; });
    for (const Setting& setting : all.all()) job.in.add(setting);
    for (Setting& setting : flags) job.in.add(std::move(setting));
    if (name.find("_ce_loss") == std::string::npos)
        job.set("framework.loss", std::string("chunked"), job.in.find("config"),
                "ChunkedLossWrapper");
    return true;
}

}  // namespace debubble::jobs
