#include <algorithm>
#include <string>

#include "scenarios/jobs/read/zoo_names.h"

/// Networks that jobs name by their folder in Hugging Face's hub and that the zoo does not have, by
/// their published config.json.
namespace debubble::jobs {
namespace {

struct HubNetwork {
    std::string_view name;  ///< the last part of the hub's name, in lower case, without its ending
    ZooModel model;         ///< keys of `model`, and layers
};

constexpr HubNetwork kHubNetworks[] = {
    {"qwen3-0.6b",
     {"{name: qwen3-0.6b, family: llama, layers: 28, hidden: 1024, heads: 16, kv_heads: 8, "
      "head_dim: 128, ffn: 3072, vocab: 151936, max_positions: 40960, norm_eps: 1e-6, rope_theta: "
      "1000000, qk_norm: heads, tied_embedding: true}",
      28}},
    {"qwen3-1.7b",
     {"{name: qwen3-1.7b, family: llama, layers: 28, hidden: 2048, heads: 16, kv_heads: 8, "
      "head_dim: 128, ffn: 6144, vocab: 151936, max_positions: 40960, norm_eps: 1e-6, rope_theta: "
      "1000000, qk_norm: heads, tied_embedding: true}",
      28}},
    {"qwen3-4b",
     {"{name: qwen3-4b, family: llama, layers: 36, hidden: 2560, heads: 32, kv_heads: 8, "
      "head_dim: 128, ffn: 9728, vocab: 151936, max_positions: 40960, norm_eps: 1e-6, rope_theta: "
      "1000000, qk_norm: heads, tied_embedding: true}",
      36}},
    {"qwen3-14b",
     {"{name: qwen3-14b, family: llama, layers: 40, hidden: 5120, heads: 40, kv_heads: 8, "
      "head_dim: 128, ffn: 17408, vocab: 151936, max_positions: 40960, norm_eps: 1e-6, rope_theta: "
      "1000000, qk_norm: heads}",
      40}},
    {"qwen2.5-0.5b",
     {"{name: qwen2.5-0.5b, family: llama, layers: 24, hidden: 896, heads: 14, kv_heads: 2, ffn: "
      "4864, vocab: 151936, max_positions: 32768, norm_eps: 1e-6, rope_theta: 1000000, qkv_bias: "
      "true, tied_embedding: true}",
      24}},
    {"qwen2.5-1.5b",
     {"{name: qwen2.5-1.5b, family: llama, layers: 28, hidden: 1536, heads: 12, kv_heads: 2, ffn: "
      "8960, vocab: 151936, max_positions: 131072, norm_eps: 1e-6, rope_theta: 1000000, qkv_bias: "
      "true, tied_embedding: true}",
      28}},
    {"qwen2.5-3b",
     {"{name: qwen2.5-3b, family: llama, layers: 36, hidden: 2048, heads: 16, kv_heads: 2, ffn: "
      "11008, vocab: 151936, max_positions: 32768, norm_eps: 1e-6, rope_theta: 1000000, qkv_bias: "
      "true, tied_embedding: true}",
      36}},
    {"qwen2.5-14b",
     {"{name: qwen2.5-14b, family: llama, layers: 48, hidden: 5120, heads: 40, kv_heads: 8, ffn: "
      "13824, vocab: 152064, max_positions: 131072, norm_eps: 1e-5, rope_theta: 1000000, qkv_bias: "
      "true}",
      48}},
    {"qwen2.5-32b",
     {"{name: qwen2.5-32b, family: llama, layers: 64, hidden: 5120, heads: 40, kv_heads: 8, ffn: "
      "27648, vocab: 152064, max_positions: 131072, norm_eps: 1e-5, rope_theta: 1000000, qkv_bias: "
      "true}",
      64}},
    {"qwen2.5-72b",
     {"{name: qwen2.5-72b, family: llama, layers: 80, hidden: 8192, heads: 64, kv_heads: 8, ffn: "
      "29568, vocab: 152064, max_positions: 131072, norm_eps: 1e-5, rope_theta: 1000000, qkv_bias: "
      "true}",
      80}},
    {"deepseek-r1-distill-qwen-1.5b",
     {"{name: deepseek-r1-distill-qwen-1.5b, family: llama, layers: 28, hidden: 1536, heads: 12, "
      "kv_heads: 2, ffn: 8960, vocab: 151936, max_positions: 131072, norm_eps: 1e-6, rope_theta: "
      "10000, qkv_bias: true}",
      28}},
    {"llama-3.2-3b",
     {"{name: llama3.2-3b, family: llama, layers: 28, hidden: 3072, heads: 24, kv_heads: 8, "
      "head_dim: 128, ffn: 8192, vocab: 128256, max_positions: 131072, norm_eps: 1e-5, rope_theta: "
      "500000, tied_embedding: true, rope_scaling: {type: llama3, factor: 32, "
      "low_frequency_factor: 1, high_frequency_factor: 4, original_positions: 8192}}",
      28}},
    {"mistral-7b-v0.3",
     {"{name: mistral-7b-v0.3, family: llama, layers: 32, hidden: 4096, heads: 32, kv_heads: 8, "
      "ffn: 14336, vocab: 32768, max_positions: 32768, norm_eps: 1e-5, rope_theta: 1000000}",
      32}},
    {"mistral-nemo-2407",
     {"{name: mistral-nemo-12b, family: llama, layers: 40, hidden: 5120, heads: 32, kv_heads: 8, "
      "head_dim: 128, ffn: 14336, vocab: 131072, max_positions: 131072, norm_eps: 1e-5, "
      "rope_theta: 1000000}",
      40}},
    {"phi-4",
     {"{name: phi-4, family: phi3, layers: 40, hidden: 5120, heads: 40, kv_heads: 10, ffn: 17920, "
      "vocab: 100352, max_positions: 16384, norm_eps: 1e-5, rope_theta: 250000}",
      40}},
    {"deepseek-llm-7b",
     {"{name: deepseek-llm-7b, family: llama, layers: 30, hidden: 4096, heads: 32, ffn: 11008, "
      "vocab: 102400, max_positions: 4096, norm_eps: 1e-6}",
      30}},
    {"seed-oss-36b",
     {"{name: seed-oss-36b, family: llama, layers: 64, hidden: 5120, heads: 80, kv_heads: 8, "
      "head_dim: 128, ffn: 27648, vocab: 155136, max_positions: 524288, norm_eps: 1e-6, "
      "rope_theta: 10000000, qkv_bias: true}",
      64}},
    {"deepseek-v2",
     {"{name: deepseek-v2, family: deepseek, layers: 60, hidden: 5120, heads: 128, "
      "latent_attention: {query_rank: 1536, key_rank: 512, head_dim: 128, rope_dim: 64, value_dim: "
      "128}, ffn: 1536, experts: 160, experts_per_token: 6, shared_ffn: 3072, router: pre_softmax, "
      "router_dtype: fp32, router_groups: 8, router_groups_chosen: 3, router_scaling: 16, "
      "layer_groups: [{count: 1, experts: 0, shared_ffn: 0, ffn: 12288}, {count: 59}], vocab: "
      "102400, max_positions: 163840, norm_eps: 1e-6}",
      60}},
    // Primus fd1eeabb, backends/torchtitan/models/deepseek_v3: Llama 4's attention in place of
    // DeepSeek's latent one
    {"deepseek-classic-16b",
     {"{name: deepseek-classic-16b, family: deepseek, layers: 27, hidden: 2048, heads: 16, "
      "head_dim: 128, ffn: 1408, experts: 64, experts_per_token: 6, shared_ffn: 2816, "
      "router_dtype: "
      "fp32, layer_groups: [{count: 1, experts: 0, shared_ffn: 0, ffn: 10944}, {count: 26}], "
      "vocab: "
      "102400, max_positions: 16384, norm_eps: 1e-5}",
      27}},
    {"deepseek-classic-236b",
     {"{name: deepseek-classic-236b, family: deepseek, layers: 60, hidden: 5120, heads: 40, "
      "kv_heads: 8, head_dim: 128, ffn: 1536, experts: 160, experts_per_token: 6, shared_ffn: "
      "3072, router_dtype: fp32, router_groups: 8, router_groups_chosen: 3, router_scaling: 16, "
      "layer_groups: [{count: 1, experts: 0, shared_ffn: 0, ffn: 12288}, {count: 59}], vocab: "
      "102400, max_positions: 16384, norm_eps: 1e-5}",
      60}},
    {"deepseek-classic-671b",
     {"{name: deepseek-classic-671b, family: deepseek, layers: 61, hidden: 7168, heads: 56, "
      "kv_heads: 8, head_dim: 128, ffn: 2048, experts: 256, experts_per_token: 8, shared_ffn: "
      "2048, router: sigmoid, router_dtype: fp32, router_groups: 8, router_groups_chosen: 4, "
      "router_scaling: 2.5, layer_groups: [{count: 3, experts: 0, shared_ffn: 0, ffn: 18432}, "
      "{count: 58}], vocab: 129280, max_positions: 16384, norm_eps: 1e-5}",
      61}},
    {"glm-4.7",  // GLM-4.5 and 4.6 have the same sizes; without multi-token prediction
     {"{name: glm-4.7, family: deepseek, layers: 92, hidden: 5120, heads: 96, kv_heads: 8, "
      "head_dim: 128, rotary_dim: 64, qkv_bias: true, qk_norm: heads, ffn: 1536, experts: 160, "
      "experts_per_token: 8, shared_ffn: 1536, router: sigmoid, router_scaling: 2.5, router_dtype: "
      "fp32, router_bias_correction: true, layer_groups: [{count: 3, experts: 0, shared_ffn: 0, "
      "ffn: 12288}, "
      "{count: 89}], vocab: 151552, max_positions: 202752, norm_eps: 1e-5, rope_theta: 1000000}",
      92}}};

/// Other names of the same networks.
constexpr std::pair<std::string_view, std::string_view> kSameNetworks[] = {
    {"glm-4.5", "glm-4.7"},
    {"glm-4.6", "glm-4.7"},
    {"qwen2-0.5b", "qwen2.5-0.5b"},
    {"qwen2-1.5b", "qwen2.5-1.5b"},
    {"qwen2-72b", "qwen2.5-72b"},
    {"mistral-nemo-base-2407", "mistral-nemo-2407"},
    {"mistral-nemo-instruct-2407", "mistral-nemo-2407"},
    {"mistral-7b-instruct-v0.3", "mistral-7b-v0.3"},
    {"deepseek-r1-distill-qwen-14b", "qwen2.5-14b"},
    {"deepseek-r1-distill-qwen-32b", "qwen2.5-32b"}};

}  // namespace

std::optional<ZooModel> hub_network_of(std::string_view plain) {
    for (const auto& [other, name] : kSameNetworks)
        if (plain == other) plain = name;
    const auto* const found = std::ranges::find(kHubNetworks, plain, &HubNetwork::name);
    if (found == std::end(kHubNetworks)) return {};
    return found->model;
}

std::string_view hub_name_of_sizes(std::string_view model) {
    for (const HubNetwork& one : kHubNetworks)
        if (one.model.zoo.starts_with("{name: " + std::string(model) + ",")) return one.name;
    return {};
}

}  // namespace debubble::jobs
