#include <algorithm>

#include <fmt/format.h>

#include "models/hf/config.h"
#include "models/network/architecture_limits.h"

/// Configurations of networks with a part parallel to attention, and of Bamba. Defaults are those
/// of transformers 5.24's classes. They are of the family 'planned'.
namespace debubble::models {
namespace {

constexpr std::pair<std::string_view, Activation> kFalconActivations[] = {
    {"gelu", Activation::Gelu}, {"gelu_new", Activation::GeluTanh}};

/// Sizes of Mamba-2 by the names of Falcon-H1's and Bamba's files. `inner` is what a null or no key
/// gives, and `norm` whether the scan's result has one.
Mamba read_state_space(text::MappingReader& in, std::int64_t inner, bool norm) {
    Mamba mamba;
    mamba.heads = 128;
    mamba.state = 256;
    mamba.norm = norm;
    in.whole("mamba_n_heads", mamba.heads, 1, kMostHeads);
    double expand = 2;
    in.real("mamba_expand", expand, 0, 1e4);
    inner = static_cast<std::int64_t>(expand * static_cast<double>(inner));
    in.whole("mamba_d_ssm", inner, 1, kWidestMlp);
    mamba.head_dim = std::max<std::int64_t>(1, inner / mamba.heads);
    const text::NodePtr width = in.value("mamba_d_head");
    if (width && width->scalar != "auto") in.whole("mamba_d_head", mamba.head_dim, 1, kWidest);
    if (mamba.inner() != inner)
        in.complain(
            "mamba_n_heads",
            fmt::format(
                "{} heads of {} columns do not make up the {} columns of the state-space part",
                mamba.heads, mamba.head_dim, inner));
    in.whole("mamba_n_groups", mamba.groups, 1, kMostHeads);
    in.whole("mamba_d_state", mamba.state, 1, kWidest);
    in.whole("mamba_d_conv", mamba.convolution, 1, kWidest);
    in.whole("mamba_chunk_size", mamba.chunk, 1, kMostPositions);
    in.flag("mamba_conv_bias", mamba.convolution_bias);
    in.flag("mamba_rms_norm", mamba.norm);
    in.value("mamba_norm_before_gate");
    refuse_flag(in, "mamba_proj_bias");
    refuse_flag(in, "projectors_bias");
    return mamba;
}

/// Cohere's layers: layer norms without biases, one for attention and MLP.
void read_commands(text::MappingReader& in, Config& config) {
    LayerKeys& layer = config.layer;
    Architecture& a = config.network;
    demand_sizes(in);
    layer.ffn = 22528;
    layer.kv_heads = 0;
    read_llama_kind(in, config);
    a.family = Family::Planned;
    a.norm = Norm::LayerNorm;
    a.norm_bias = false;
    a.norm_eps = 1e-5;
    in.real("layer_norm_eps", a.norm_eps, 0, 1);
    if (!in.has("tie_word_embeddings")) a.tied_embedding = true;
    in.value("logit_scale");  // no figure of a plan depends on it
    read_biases(in, layer);
    layer.parallel_residual = layer.one_norm = true;
}

/// The keys that Falcon-H1 and Bamba share.
void read_transformer(text::MappingReader& in, Config& config) {
    demand_sizes(in);
    config.layer.ffn = 14336;
    config.layer.kv_heads = 8;
    config.network.norm_eps = 1e-5;
    read_llama_kind(in, config);
    config.network.family = Family::Planned;
    read_biases(in, config.layer);
}

}  // namespace

/// Attention and Mamba-2 of one norm, with factors on which no figure of a plan depends.
void read_falcon_h1(text::MappingReader& in, Config& config) {
    for (const char* key :
         {"lm_head_multiplier", "embedding_multiplier", "mlp_multipliers", "key_multiplier",
          "attention_out_multiplier", "attention_in_multiplier", "ssm_multipliers",
          "ssm_in_multiplier", "ssm_out_multiplier", "mamba_use_mlp", "mlp_expansion_factor"})
        in.value(key);
    read_transformer(in, config);
    refuse_given(in, "attn_layer_indices",
                 "models of this type with layers without attention cannot be read");
    config.layer.mamba = read_state_space(in, config.network.hidden, false);
    config.layer.mamba_beside = true;
}

/// Layers of Mamba-2, but for those that a list names.
void read_bamba(text::MappingReader& in, Config& config) {
    read_transformer(in, config);
    read_rotary_share(in, config, "partial_rotary_factor", 0.5);
    in.value("z_loss_coefficient");
    in.value("attn_rotary_emb");
    config.layer.mamba = read_state_space(in, config.network.hidden, true);
    std::vector<int> attends;
    in.wholes("attn_layer_indices", attends, 0, config.layers - 1);
    std::vector<std::string> kinds;
    if (in.has("layer_types") && !read_of_layers(in, config, "layer_types", kinds)) return;
    std::vector<LayerKeys>& layers = layers_of(config);
    for (std::size_t i = 0; i < layers.size(); ++i) {
        const bool listed = std::ranges::find(attends, static_cast<int>(i)) != attends.end();
        const bool attention =
            kinds.empty() ? listed : kinds[i] == "attention" || kinds[i] == "full_attention";
        if (!attention) layers[i].mixer = MixerKind::Mamba;
    }
}

void read_cohere(text::MappingReader& in, Config& config) {
    read_commands(in, config);
    // Layer norms of each head, with a weight of every column.
    bool normed = false;
    if (in.flag("use_qk_norm", normed) && normed) config.layer.qk_norm = QkNorm::Width;
}

/// Windows in three of four layers, which alone have positions.
void read_cohere2(text::MappingReader& in, Config& config) {
    read_commands(in, config);
    std::int64_t window = 4096;
    in.whole("sliding_window", window, 1, kMostPositions);
    int every = 4;
    for (const std::string_view key : {"sliding_window_pattern", "_sliding_window_pattern"})
        in.whole(key, every, 1, kMostLayers);
    std::vector<bool> usual;
    for (int i = 0; i < config.layers; ++i) usual.push_back((i + 1) % every != 0);
    set_windows(in, config, window, usual);
    if (!in.good()) return;
    for (LayerKeys& layer : layers_of(config)) layer.rotary = layer.window.has_value();
}

/// Experts and shared ones of one width, after dense layers with windows of their own.
void read_cohere2_moe(text::MappingReader& in, Config& config) {
    LayerKeys& layer = config.layer;
    config.usual_head_dim = 128;
    config.network.max_positions = 8192;
    read_commands(in, config);
    if (in.has("rms_norm_eps")) config.network.norm = Norm::RmsNorm;
    config.dense_ffn = layer.ffn;
    in.whole("prefix_dense_intermediate_size", config.dense_ffn, 1, kWidestMlp);
    layer.experts = 8;
    layer.experts_per_token = 2;
    in.whole("num_experts", layer.experts, 1, kMostExperts);
    in.whole("num_experts_per_tok", layer.experts_per_token, 1, kMostExperts);
    std::int64_t shared = 0;
    in.whole("num_shared_experts", shared, 0, kMostExperts);
    layer.shared_ffn = shared * layer.ffn;
    expect_word(in, "shared_expert_combination_strategy", {"average", "sum"});
    expect_word(in, "expert_selection_fn", {"softmax", "sigmoid"});
    const text::NodePtr choice = in.value("expert_selection_fn");
    if (choice && choice->scalar == "sigmoid") layer.router = Router::Sigmoid;
    in.flag("norm_topk_prob", layer.router_renormalises);
    if (layer.router != Router::Sigmoid) layer.router_renormalises = true;
    in.whole("first_k_dense_replace", config.dense_first, 0, kMostLayers);
    read_listed_dense(in, config);
    std::int64_t window = 4096;
    in.whole("sliding_window", window, 1, kMostPositions);
    int every = 4;
    int every_dense = 1;
    in.whole("sliding_window_pattern", every, 1, kMostLayers);
    in.whole("prefix_dense_sliding_window_pattern", every_dense, 1, kMostLayers);
    std::vector<bool> usual;
    for (int i = 0; i < config.layers; ++i)
        usual.push_back(i < config.dense_first ? (i + 1) % every_dense != 0
                                               : (i - config.dense_first + 1) % every != 0);
    set_windows(in, config, window, usual);
    if (!in.good()) return;
    for (LayerKeys& one : layers_of(config))
        one.rotary = one.window.has_value() || (one.experts == 0 && every_dense == 1);
}

void read_falcon(text::MappingReader& in, Config& config) {
    LayerKeys& layer = config.layer;
    Architecture& a = config.network;
    a.vocab = 65024;
    a.max_positions = 2048;
    layer.kv_heads = 0;
    config.usual_hidden = 4544;
    config.usual_heads = 71;
    config.usual_activation = Activation::Gelu;
    config.activation_key = "activation";
    config.activations = kFalconActivations;
    read_llama_kind(in, config);
    a.family = Family::Planned;
    a.norm = Norm::LayerNorm;
    a.norm_eps = 1e-5;
    in.real("layer_norm_epsilon", a.norm_eps, 0, 1);
    if (!in.has("tie_word_embeddings")) a.tied_embedding = true;
    layer.ffn = 4 * a.hidden;
    in.whole("ffn_hidden_size", layer.ffn, 1, kWidestMlp);
    bool grouped = false;
    bool one_key = true;
    layer.parallel_residual = true;
    in.flag("new_decoder_architecture", grouped);
    in.flag("multi_query", one_key);
    in.flag("parallel_attn", layer.parallel_residual);
    std::int64_t keys = layer.heads;
    in.whole("num_kv_heads", keys, 1, kMostHeads);
    layer.kv_heads = grouped ? keys : one_key ? 1 : layer.heads;
    layer.parallel_residual = layer.parallel_residual || grouped;
    int norms = grouped ? 2 : 1;
    in.whole("num_ln_in_parallel_attn", norms, 1, 2);
    layer.one_norm = layer.parallel_residual && norms == 1;
    in.flag("bias", layer.linear_bias);
    in.flag("alibi", layer.alibi);
    if (layer.alibi) layer.rotary = false;
    in.real("hidden_dropout", a.dropout, 0, 0.999);
}

}  // namespace debubble::models
