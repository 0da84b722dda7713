#include <algorithm>

#include <fmt/format.h>

#include "models/hf/config.h"
#include "models/network/architecture_limits.h"

/// Configurations of networks of Mamba-1 (Jamba, Falcon Mamba), and of Mamba-2 alone. Defaults are
/// those of transformers' JambaConfig, MambaConfig, FalconMambaConfig and Mamba2Config. They are of
/// the family 'planned'.
namespace debubble::models {
namespace {

/// The names by which a family calls the sizes of its state-space layers.
struct StateSpaceKeys {
    const char* state;
    const char* convolution;
    const char* expand;
    const char* rank;
    const char* convolution_bias;
    const char* product_bias;
};
constexpr StateSpaceKeys kJamba{"mamba_d_state", "mamba_d_conv",    "mamba_expand",
                                "mamba_dt_rank", "mamba_conv_bias", "mamba_proj_bias"};
constexpr StateSpaceKeys kMamba{"state_size",     "conv_kernel",   "expand",
                                "time_step_rank", "use_conv_bias", "use_bias"};

/// Mamba-1 of a network of that width.
Mamba read_selective(text::MappingReader& in, std::int64_t hidden, const StateSpaceKeys& keys) {
    Mamba mamba;
    mamba.state = 16;
    mamba.norm = false;
    in.whole(keys.state, mamba.state, 1, kWidest);
    in.whole(keys.convolution, mamba.convolution, 1, kWidest);
    std::int64_t expand = 2;
    in.whole(keys.expand, expand, 1, 100);
    mamba.head_dim = std::min(kWidest, expand * hidden);
    std::int64_t step_rank = (hidden + 15) / 16;
    const text::NodePtr rank = in.value(keys.rank);
    if (rank && rank->scalar != "auto") in.whole(keys.rank, step_rank, 1, kWidest);
    mamba.step_rank = step_rank;
    in.flag(keys.convolution_bias, mamba.convolution_bias);
    refuse_flag(in, keys.product_bias);
    return mamba;
}

/// True for the layers of a period that stand at its offset.
bool stands_at(std::size_t layer, int period, int offset) {
    return static_cast<int>(layer) % period == offset;
}

/// The sizes of a network of nothing but state-space layers, which has no positions.
void read_stack(text::MappingReader& in, Config& config) {
    Architecture& a = config.network;
    for (const std::string_view key : {"num_hidden_layers", "hidden_size", "vocab_size"})
        in.demand(key);
    a.family = Family::Planned;
    a.norm = Norm::RmsNorm;
    a.learned_positions = false;
    a.max_positions = 1 << 20;
    in.whole("num_hidden_layers", config.layers, 1, kMostLayers);
    in.whole("hidden_size", a.hidden, 1, kWidest);
    in.whole("vocab_size", a.vocab, 1, kLargestVocabulary);
    in.real("layer_norm_epsilon", a.norm_eps, 0, 1);
    in.flag("tie_word_embeddings", a.tied_embedding);
    expect_word(in, "hidden_act", {"silu"});
    config.layer.mixer = MixerKind::Mamba;
    config.layer.mlp = false;
    config.layer.linear_bias = false;
    for (const char* key :
         {"time_step_scale", "time_step_init_scheme", "use_mambapy", "use_associative_scan"})
        in.value(key);  // first values and kernels
}

}  // namespace

/// Attention without positions and experts, each in a layer of every so many.
void read_jamba(text::MappingReader& in, Config& config) {
    LayerKeys& layer = config.layer;
    Architecture& a = config.network;
    for (const std::string_view key :
         {"num_hidden_layers", "hidden_size", "num_attention_heads", "vocab_size"})
        in.demand(key);
    a.norm_eps = 1e-6;
    a.max_positions = 262'144;
    layer.ffn = 14336;
    layer.kv_heads = 8;
    read_llama_kind(in, config);
    a.family = Family::Planned;
    layer.rotary = false;
    config.dense_ffn = layer.ffn;
    layer.experts = 16;
    layer.experts_per_token = 2;
    layer.router = Router::PreSoftmax;
    layer.router_dtype = RouterDtype::Compute;
    in.whole("num_experts", layer.experts, 1, kMostExperts);
    in.whole("num_experts_per_tok", layer.experts_per_token, 1, kMostExperts);
    for (const char* key : {"use_mambapy", "use_associative_scan"}) in.value(key);  // kernels
    Mamba mamba = read_selective(in, a.hidden, kJamba);
    mamba.step_norms = true;
    in.flag("mamba_inner_layernorms", mamba.step_norms);
    int attention_period = 8;
    int attention_offset = 4;
    int expert_period = 2;
    int expert_offset = 1;
    in.whole("attn_layer_period", attention_period, 1, kMostLayers);
    in.whole("attn_layer_offset", attention_offset, 0, kMostLayers);
    in.whole("expert_layer_period", expert_period, 1, kMostLayers);
    in.whole("expert_layer_offset", expert_offset, 0, kMostLayers);
    if (!in.good()) return;
    const bool mixes_experts = layer.experts > 1;  // a mixture of one is an MLP
    std::vector<LayerKeys>& layers = layers_of(config);
    for (std::size_t i = 0; i < layers.size(); ++i) {
        if (!mixes_experts || !stands_at(i, expert_period, expert_offset))
            without_experts(layers[i], config);
        if (stands_at(i, attention_period, attention_offset)) continue;
        layers[i].mixer = MixerKind::Mamba;
        layers[i].mamba = mamba;
    }
}

void read_mamba1(text::MappingReader& in, Config& config) {
    config.network.tied_embedding = true;
    config.network.norm_eps = 1e-5;
    read_stack(in, config);
    Mamba mamba = read_selective(in, config.network.hidden, kMamba);
    in.whole("intermediate_size", mamba.head_dim, 1, kWidest);
    config.layer.mamba = mamba;
}

/// Norms of its steps, B and C have no weights.
void read_falcon_mamba(text::MappingReader& in, Config& config) {
    in.value("mixer_rms_eps");
    in.value("use_falcon_mambapy");
    read_mamba1(in, config);
}

void read_mamba2(text::MappingReader& in, Config& config) {
    config.network.tied_embedding = false;
    config.network.norm_eps = 1e-5;
    read_stack(in, config);
    Mamba mamba;
    mamba.heads = 128;
    mamba.groups = 8;
    in.whole("num_heads", mamba.heads, 1, kMostHeads);
    in.whole("head_dim", mamba.head_dim, 1, kWidest);
    in.whole("state_size", mamba.state, 1, kWidest);
    in.whole("n_groups", mamba.groups, 1, kMostHeads);
    in.whole("conv_kernel", mamba.convolution, 1, kWidest);
    in.whole("chunk_size", mamba.chunk, 1, kMostPositions);
    in.flag("use_conv_bias", mamba.convolution_bias);
    in.flag("rms_norm", mamba.norm);
    refuse_flag(in, "use_bias");
    std::int64_t expand = 2;
    in.whole("expand", expand, 1, 100);
    if (in.good() && expand * config.network.hidden != mamba.inner())
        in.complain(
            "num_heads",
            fmt::format(
                "{} heads of {} columns do not make up the {} columns of the state-space layers",
                mamba.heads, mamba.head_dim, expand * config.network.hidden));
    config.layer.mamba = mamba;
}

}  // namespace debubble::models
