#include <fmt/format.h>

#include "models/architecture_limits.h"
#include "models/hf_config.h"

/// Configurations of the networks after Llama. Defaults are those of transformers' MistralConfig,
/// Qwen2Config, Qwen3Config, Qwen3MoeConfig, DeepseekV2Config and DeepseekV3Config, as far as
/// published files leave keys out.
namespace debubble::models {
namespace {

/// The sizes that every file states.
void demand_sizes(text::MappingReader& in) {
    for (const std::string_view key : {"num_hidden_layers", "hidden_size", "num_attention_heads",
                                       "vocab_size", "max_position_embeddings"})
        in.demand(key);
}

/// Windows of Mistral and Qwen: a null, or one as long as the text, is none.
void read_window(text::MappingReader& in, Config& config) {
    std::int64_t window = 0;
    if (in.whole("sliding_window", window, 1, kMostPositions) &&
        window < config.network.max_positions)
        config.layer.window = window;
}

/// Qwen's files give a window and say beside it that it is not used.
void read_optional_window(text::MappingReader& in, Config& config) {
    bool used = false;
    if (!in.flag("use_sliding_window", used) || !used) return;
    read_window(in, config);
    if (in.has("max_window_layers") || in.has("layer_types"))
        in.complain("use_sliding_window", "windows in some of the layers are not read");
}

void refuse_biases(text::MappingReader& in) {
    refuse_flag(in, "attention_bias");
    refuse_flag(in, "mlp_bias");
}

/// Experts by the names of Qwen's and DeepSeek's files; `count` is the key of their number.
void read_experts(text::MappingReader& in, Config& config, std::string_view count) {
    LayerKeys& layer = config.layer;
    config.dense_ffn = layer.ffn;
    for (const std::string_view key : {count, std::string_view("num_experts_per_tok"),
                                       std::string_view("moe_intermediate_size")})
        in.demand(key);
    in.whole(count, layer.experts, 1, kMostExperts);
    in.whole("num_experts_per_tok", layer.experts_per_token, 1, kMostExperts);
    in.whole("moe_intermediate_size", layer.ffn, 1, kWidestMlp);
    bool renormalised = false;
    in.flag("norm_topk_prob", renormalised);
    layer.router = renormalised ? Router::Softmax : Router::PreSoftmax;
}

void read_latent(text::MappingReader& in, LayerKeys& layer) {
    LatentAttention latent;
    std::int64_t own = 1;
    for (const std::string_view key :
         {"kv_lora_rank", "qk_rope_head_dim", "qk_nope_head_dim", "v_head_dim"})
        in.demand(key);
    in.whole("q_lora_rank", latent.query_rank, 1, kWidest);  // null: none
    in.whole("kv_lora_rank", latent.key_rank, 1, kWidest);
    in.whole("qk_rope_head_dim", latent.rope_dim, 1, kWidest);
    in.whole("qk_nope_head_dim", own, 1, kWidest);
    in.whole("v_head_dim", layer.value_dim, 1, kWidest);
    layer.kv_heads = layer.heads;
    layer.head_dim = own + latent.rope_dim;
    layer.latent = latent;
}

/// What DeepSeek's two generations share.
void read_deepseek(text::MappingReader& in, Config& config) {
    if (in.has("index_topk") || in.has("index_n_heads"))
        in.complain("index_topk",
                    "sparse attention, whose tokens choose what they see, is not planned");
    demand_sizes(in);
    config.network.norm_eps = 1e-6;
    config.layer.kv_heads = 0;
    read_llama_kind(in, config);
    config.network.family = Family::Deepseek;
    refuse_biases(in);
    read_latent(in, config.layer);
    read_experts(in, config, "n_routed_experts");
    std::int64_t shared = 0;
    in.whole("n_shared_experts", shared, 0, kMostExperts);
    config.layer.shared_ffn = shared * config.layer.ffn;
    in.whole("first_k_dense_replace", config.dense_first, 0, kMostLayers);
    std::int64_t every = 1;
    if (in.whole("moe_layer_freq", every, 1, kMostLayers) && every != 1)
        in.complain("moe_layer_freq", "experts in some of the layers after the first are not read");
    std::int64_t more = 0;
    if (in.whole("num_nextn_predict_layers", more, 0, kMostLayers) && more > 0)
        config.network.source += ", without its multi-token prediction";
}

}  // namespace

void read_mistral(text::MappingReader& in, Config& config) {
    demand_sizes(in);
    config.layer.ffn = 14336;
    config.layer.kv_heads = 8;
    config.network.norm_eps = 1e-6;
    read_llama_kind(in, config);
    read_window(in, config);
}

void read_qwen2(text::MappingReader& in, Config& config) {
    demand_sizes(in);
    config.layer.ffn = 22016;
    config.layer.kv_heads = 0;
    config.network.norm_eps = 1e-6;
    read_llama_kind(in, config);
    config.layer.qkv_bias = true;
    read_optional_window(in, config);
}

void read_qwen3(text::MappingReader& in, Config& config) {
    demand_sizes(in);
    config.layer.ffn = 22016;
    config.layer.kv_heads = 0;
    config.network.norm_eps = 1e-6;
    read_llama_kind(in, config);
    config.network.family = Family::Deepseek;
    config.layer.qk_norm = QkNorm::Heads;
    refuse_biases(in);
    read_optional_window(in, config);
}

void read_qwen3_moe(text::MappingReader& in, Config& config) {
    read_qwen3(in, config);
    // transformers 5 writes the name that Mixtral's files have.
    read_experts(in, config, in.has("num_local_experts") ? "num_local_experts" : "num_experts");
    std::int64_t every = 1;
    if (in.whole("decoder_sparse_step", every, 1, kMostLayers) && every != 1)
        in.complain("decoder_sparse_step", "experts in some of the layers are not read");
    const text::NodePtr dense = in.value("mlp_only_layers");
    if (dense && !dense->items.empty())
        in.complain("mlp_only_layers", "experts in some of the layers are not read");
}

void read_deepseek_v2(text::MappingReader& in, Config& config) {
    read_deepseek(in, config);
}

void read_deepseek_v3(text::MappingReader& in, Config& config) {
    read_deepseek(in, config);
    config.layer.router = Router::Sigmoid;
}

}  // namespace debubble::models
