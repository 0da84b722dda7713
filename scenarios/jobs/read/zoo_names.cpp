#include "scenarios/jobs/read/zoo_names.h"

#include <algorithm>
#include <cctype>
#include <string>

namespace debubble::jobs {
namespace {

struct NamedModel {
    std::string_view name;  ///< the last part of the hub's name, in lower case
    ZooModel model;
};

constexpr NamedModel kNamedModels[] = {
    {"deepseek-v2-lite", {"deepseek-v2-lite", 27}},
    {"deepseek-v2-lite-chat", {"deepseek-v2-lite", 27}},
    {"deepseek-v3", {"deepseek-v3", 61}},
    {"deepseek-v3-base", {"deepseek-v3", 61}},
    {"deepseek-v3-0324", {"deepseek-v3", 61}},
    {"deepseek-r1", {"deepseek-v3", 61}},
    {"gemma-2-9b", {"gemma-2-9b", 42}},
    {"gemma-2-9b-it", {"gemma-2-9b", 42}},
    {"glm-4.5-air", {"glm-4.5-air", 46}},
    {"gpt2", {"gpt2", 12}},
    {"gpt2-xl", {"gpt2-xl", 48}},
    {"gpt-neox-20b", {"gpt-neox-20b", 44}},
    {"gpt-oss-20b", {"gpt-oss-20b", 24}},
    {"gpt-oss-120b", {"gpt-oss-120b", 36}},
    {"kimi-k2-base", {"kimi-k2", 61}},
    {"kimi-k2-instruct", {"kimi-k2", 61}},
    {"llama-2-7b-hf", {"llama2-7b", 32}},
    {"llama-2-13b-hf", {"llama2-13b", 40}},
    {"llama-2-70b-hf", {"llama2-70b", 80}},
    {"meta-llama-3-8b", {"llama3-8b", 32}},
    {"meta-llama-3-8b-instruct", {"llama3-8b", 32}},
    {"meta-llama-3-70b", {"llama3-70b", 80}},
    {"meta-llama-3-70b-instruct", {"llama3-70b", 80}},
    {"llama-3.1-8b", {"llama3.1-8b", 32}},
    {"llama-3.1-8b-instruct", {"llama3.1-8b", 32}},
    {"meta-llama-3.1-8b", {"llama3.1-8b", 32}},
    {"llama-3.1-70b", {"llama3.1-70b", 80}},
    {"llama-3.1-70b-instruct", {"llama3.1-70b", 80}},
    {"llama-3.3-70b-instruct", {"llama3.1-70b", 80}},
    {"llama-3.1-405b", {"llama3.1-405b", 126}},
    {"llama-3.2-1b", {"llama3.2-1b", 16}},
    {"llama-3.2-1b-instruct", {"llama3.2-1b", 16}},
    {"mistral-7b-v0.1", {"mistral-7b", 32}},
    {"mixtral-8x7b-v0.1", {"mixtral-8x7b", 32}},
    {"mixtral-8x22b-v0.1", {"mixtral-8x22b", 56}},
    {"moonlight-16b-a3b", {"moonlight-16b-a3b", 27}},
    {"moonlight-16b-a3b-instruct", {"moonlight-16b-a3b", 27}},
    {"nvidia-nemotron-3-nano-30b-a3b-bf16", {"nemotron-3-nano-30b-a3b", 52}},
    {"olmo-2-1124-7b", {"olmo2-7b", 32}},
    {"qwen2.5-7b", {"qwen2.5-7b", 28}},
    {"qwen2.5-7b-instruct", {"qwen2.5-7b", 28}},
    {"qwen2-7b", {"qwen2.5-7b", 28}},
    {"qwen2.5-math-7b", {"qwen2.5-7b", 28}},
    {"qwen2.5-coder-7b", {"qwen2.5-7b", 28}},
    {"deepseek-r1-distill-qwen-7b", {"qwen2.5-7b", 28}},
    {"deepseek-r1-distill-llama-8b", {"llama3.1-8b", 32}},
    {"deepseek-r1-distill-llama-70b", {"llama3.1-70b", 80}},
    {"meta-llama-3.1-70b", {"llama3.1-70b", 80}},
    {"qwen3-next-80b-a3b", {"qwen3-next-80b-a3b", 48}},
    {"kimi-k2", {"kimi-k2", 61}},
    {"deepseek-v2-lite", {"deepseek-v2-lite", 27}},
    {"qwen3-8b", {"qwen3-8b", 36}},
    {"qwen3-8b-base", {"qwen3-8b", 36}},
    {"qwen3-32b", {"qwen3-32b", 64}},
    {"qwen3-30b-a3b", {"qwen3-30b-a3b", 48}},
    {"qwen3-30b-a3b-base", {"qwen3-30b-a3b", 48}},
    {"qwen3-30b-a3b-instruct-2507", {"qwen3-30b-a3b", 48}},
    {"qwen3-235b-a22b", {"qwen3-235b-a22b", 94}},
    {"qwen3-235b-a22b-instruct-2507", {"qwen3-235b-a22b", 94}},
    {"qwen3-next-80b-a3b-instruct", {"qwen3-next-80b-a3b", 48}}};

}  // namespace

std::optional<ZooModel> zoo_model_of(std::string_view name) {
    std::string plain;
    for (const char c : name.substr(name.rfind('/') + 1))
        plain += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    // Endings that stand for another training of the same network.
    constexpr std::string_view kEndings[] = {
        "-fp8", "-bf16", "-instruct-2507", "-thinking-2507", "-instruct", "-chat", "-base", "-hf"};
    for (;;) {
        for (const NamedModel& one : kNamedModels)
            if (one.name == plain) return one.model;
        if (const auto known = hub_network_of(plain)) return known;
        const auto* const ending = std::ranges::find_if(
            kEndings, [&](std::string_view one) { return plain.ends_with(one); });
        if (ending == std::end(kEndings)) return {};
        plain.resize(plain.size() - ending->size());
    }
}

std::string_view hub_name_of_zoo(std::string_view model) {
    for (const NamedModel& one : kNamedModels)
        if (one.model.zoo == model) return one.name;
    return hub_name_of_sizes(model);
}

void refuse_changes_of_network(Reading& job, bool plans_depths) {
    constexpr std::string_view kOfNetworks[] = {"num_layers",
                                                "hidden_size",
                                                "ffn_hidden_size",
                                                "num_attention_heads",
                                                "num_query_groups",
                                                "kv_channels",
                                                "num_experts",
                                                "num_moe_experts",
                                                "moe_ffn_hidden_size",
                                                "moe_layer_freq",
                                                "moe_router_topk",
                                                "moe_shared_expert_intermediate_size",
                                                "multi_latent_attention",
                                                "q_lora_rank",
                                                "kv_lora_rank",
                                                "mtp_num_layers",
                                                "experimental_attention_variant",
                                                "linear_attention_freq",
                                                "hybrid_layer_pattern",
                                                "window_size",
                                                "position_embedding_type",
                                                "normalization"};
    // Those of a config.json, which NeMo Automodel takes below model and model.config.
    constexpr std::string_view kOfConfigs[] = {"num_hidden_layers",
                                               "hidden_size",
                                               "intermediate_size",
                                               "moe_intermediate_size",
                                               "num_attention_heads",
                                               "num_key_value_heads",
                                               "head_dim",
                                               "num_experts",
                                               "num_local_experts",
                                               "n_routed_experts",
                                               "num_experts_per_tok",
                                               "first_k_dense_replace",
                                               "num_nextn_predict_layers",
                                               "tie_word_embeddings",
                                               "sliding_window",
                                               "vocab_size"};
    if (job.has_model()) return;
    for (const Setting& setting : std::vector<Setting>(job.in.all())) {
        const std::string_view name = setting.name;
        const std::string_view last = name.substr(name.rfind('.') + 1);
        const bool nothing = setting.value->is(text::Node::Kind::Scalar) &&
                             (setting.value->scalar == "0" || setting.value->scalar == "null");
        const bool changes = std::ranges::find(kOfNetworks, name) != std::end(kOfNetworks) ||
                             ((name == "model." + std::string(last) ||
                               name == "model.config." + std::string(last)) &&
                              std::ranges::find(kOfConfigs, last) != std::end(kOfConfigs));
        if (changes && !nothing && !(plans_depths && name == "mtp_num_layers"))
            job.refuse_network(setting, "it changes the model named by the job");
    }
}

}  // namespace debubble::jobs
