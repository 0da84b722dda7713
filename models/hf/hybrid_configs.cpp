#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "models/hf/config.h"
#include "models/network/architecture_limits.h"

/// Configurations of networks with recurrent layers. Defaults are those of transformers'
/// Qwen3NextConfig and NemotronHConfig.
namespace debubble::models {
namespace {

/// One layer's kind by the words of transformers' `layer_types`; false if it is none of them.
bool add_qwen_layer(const LayerKeys& keys, std::string_view word, Layers& layers) {
    LayerKeys layer = keys;
    if (word == "linear_attention")
        layer.mixer = MixerKind::DeltaNet;
    else if (word != "full_attention")
        return false;
    layers.append(layer_of(layer));
    return true;
}

/// A list says each layer's kind; without one every `full_attention_interval`-th has attention.
void read_qwen_layers(text::MappingReader& in, Config& config) {
    int interval = 4;
    in.whole("full_attention_interval", interval, 1, kMostLayers);
    const std::vector<LayerKeys>& each = layers_of(config);  // some have no experts
    std::vector<std::string> words;
    if (const text::NodePtr list = in.value("layer_types")) {
        for (const text::NodePtr& item : list->items) words.push_back(item->scalar);
        if (words.size() != each.size())
            return in.complain("layer_types",
                               fmt::format("{} layers are listed, but 'num_hidden_layers' is {}",
                                           words.size(), config.layers));
    } else {
        for (int layer = 1; layer <= config.layers; ++layer)
            words.emplace_back(layer % interval == 0 ? "full_attention" : "linear_attention");
    }
    Layers layers;
    for (std::size_t i = 0; i < each.size(); ++i)
        if (!add_qwen_layer(each[i], words[i], layers))
            return in.complain(
                "layer_types",
                fmt::format("'{}' is not linear_attention or full_attention", words[i]));
    config.listed = layers;
}

/// The network's sizes that all of its layers share.
void read_nemotron_sizes(text::MappingReader& in, Config& config) {
    Architecture& a = config.network;
    LayerKeys& layer = config.layer;
    for (const std::string_view key :
         {"hidden_size", "num_attention_heads", "vocab_size", "max_position_embeddings"})
        in.demand(key);
    a.family = Family::NemotronH;
    a.norm = Norm::RmsNorm;
    a.learned_positions = a.tied_embedding = false;
    layer.linear_bias = false;
    layer.kv_heads = 8;
    layer.head_dim = 128;
    layer.activation = Activation::SquaredRelu;
    in.whole("hidden_size", a.hidden, 1, kWidest);
    in.whole("num_attention_heads", layer.heads, 1, kMostHeads);
    in.whole("num_key_value_heads", layer.kv_heads, 1, kMostHeads);
    if (!in.whole("head_dim", layer.head_dim, 1, kWidest))
        in.whole("attention_head_dim", layer.head_dim, 1, kWidest);
    in.whole("vocab_size", a.vocab, 1, kLargestVocabulary);
    in.whole("max_position_embeddings", a.max_positions, 1, kMostPositions);
    for (const std::string_view key : {"layer_norm_epsilon", "rms_norm_eps", "norm_eps"})
        in.real(key, a.norm_eps, 0, 1);
    in.flag("tie_word_embeddings", a.tied_embedding);
    constexpr std::array<std::pair<std::string_view, Activation>, 1> kActivation{
        {{"relu2", Activation::SquaredRelu}}};
    in.word("mlp_hidden_act", layer.activation, kActivation);
    for (const char* bias : {"use_bias", "attention_bias", "mlp_bias", "mamba_proj_bias"})
        refuse_flag(in, bias);
}

void read_mamba(text::MappingReader& in, LayerKeys& layer) {
    Mamba mamba;
    mamba.heads = 128;
    mamba.groups = 8;
    mamba.chunk = 128;
    in.whole("mamba_num_heads", mamba.heads, 1, kMostHeads);
    in.whole("mamba_head_dim", mamba.head_dim, 1, kWidest);
    in.whole("ssm_state_size", mamba.state, 1, kWidest);
    in.whole("n_groups", mamba.groups, 1, kMostHeads);
    in.whole("conv_kernel", mamba.convolution, 1, kWidest);
    in.whole("chunk_size", mamba.chunk, 1, kMostPositions);
    in.flag("use_conv_bias", mamba.convolution_bias);
    layer.mamba = mamba;
}

/// The experts' MLPs; those of plain layers have `config.dense_ffn`.
void read_nemotron_experts(text::MappingReader& in, Config& config) {
    LayerKeys& layer = config.layer;
    config.dense_ffn = 21504;
    in.whole("intermediate_size", config.dense_ffn, 1, kWidestMlp);
    layer.ffn = layer.shared_ffn = 7688;
    layer.experts = 8;
    layer.experts_per_token = 2;
    layer.router = Router::Sigmoid;
    layer.router_bias_correction = true;
    layer.router_dtype = RouterDtype::Fp32;  // transformers 5.24's NemotronHTopkRouter
    in.real("routed_scaling_factor", layer.router_scaling, 0, 1e6);
    in.whole("n_group", layer.router_groups, 1, kMostExperts);
    in.whole("topk_group", layer.router_groups_chosen, 1, kMostExperts);
    in.flag("norm_topk_prob", layer.router_renormalises);
    in.whole("n_routed_experts", layer.experts, 1, kMostExperts);
    in.whole("num_experts_per_tok", layer.experts_per_token, 1, kMostExperts);
    in.whole("moe_intermediate_size", layer.ffn, 1, kWidestMlp);
    in.whole("moe_shared_expert_intermediate_size", layer.shared_ffn, 0, kWidestMlp);
    std::int64_t shared = 1;
    in.whole("n_shared_experts", shared, 0, kMostExperts);
    layer.shared_ffn *= shared;
    in.whole("moe_latent_size", layer.expert_latent, 1, kWidest);
}

/// A layer of one part, by a letter of `hybrid_override_pattern`; false if it is none.
bool add_nemotron_layer(const Config& config, char letter, Layers& layers) {
    LayerKeys layer = config.layer;
    layer.mlp = letter == '-' || letter == 'E';
    if (letter == 'M')
        layer.mixer = MixerKind::Mamba;
    else if (layer.mlp)
        layer.mixer = MixerKind::None;
    else if (letter != '*')
        return false;
    if (letter == '-') {
        layer.experts = 0;
        layer.ffn = config.dense_ffn;
    }
    layers.append(layer_of(layer));
    return true;
}

/// The letter of a word of `layers_block_type`, as transformers wrote it at first and writes it
/// now.
char letter_of(std::string_view word) {
    constexpr std::array<std::pair<std::string_view, char>, 6> kLetters{{{"mamba", 'M'},
                                                                         {"linear_attention", 'M'},
                                                                         {"attention", '*'},
                                                                         {"full_attention", '*'},
                                                                         {"mlp", '-'},
                                                                         {"moe", 'E'}}};
    const auto found = std::ranges::find(kLetters, word, [](const auto& row) { return row.first; });
    return found == kLetters.end() ? '?' : found->second;
}

void read_nemotron_layers(text::MappingReader& in, Config& config) {
    std::string letters;
    std::string_view key = "hybrid_override_pattern";
    if (const text::NodePtr list = in.value("layers_block_type")) {
        key = "layers_block_type";
        for (const text::NodePtr& item : list->items) letters += letter_of(item->scalar);
    } else {
        in.demand(key);
        in.text(key, letters);
    }
    if (!in.good()) return;
    Layers layers;
    for (const char letter : letters)
        if (!add_nemotron_layer(config, letter, layers))
            return in.complain(
                key, "layers must be Mamba-2 (M), attention (*), an MLP (-) or experts (E)");
    int stated = layers.count();
    in.whole("num_hidden_layers", stated, 1, kMostLayers);
    if (layers.count() == 0 || stated != layers.count())
        return in.complain(key, fmt::format("{} layers are listed, but 'num_hidden_layers' is {}",
                                            layers.count(), stated));
    config.listed = layers;
}

/// Gated attention and gated delta nets, in the layers whose MLPs have been read.
void read_qwen_hybrid(text::MappingReader& in, Config& config) {
    config.each.clear();  // those of Qwen3, which have more below
    LayerKeys& layer = config.layer;
    config.network.family = Family::Qwen3Next;
    config.network.zero_centred_norms = true;
    layer.output_gate = true;
    in.flag("attn_output_gate", layer.output_gate);
    expect_word(in, "output_gate_type", {"swish", "silu"});
    read_rotary_share(in, config, "partial_rotary_factor", 0.25);
    DeltaNet net;
    net.key_heads = 16;
    net.value_heads = 32;
    in.whole("linear_num_key_heads", net.key_heads, 1, kMostHeads);
    in.whole("linear_num_value_heads", net.value_heads, 1, kMostHeads);
    in.whole("linear_key_head_dim", net.key_dim, 1, kWidest);
    in.whole("linear_value_head_dim", net.value_dim, 1, kWidest);
    in.whole("linear_conv_kernel_dim", net.convolution, 1, kWidest);
    layer.delta_net = net;
    if (in.good()) read_qwen_layers(in, config);
}

}  // namespace

void read_qwen3_next(text::MappingReader& in, Config& config) {
    read_qwen3_moe(in, config);
    config.layer.shared_gate = true;
    config.layer.shared_ffn = 512;
    in.whole("shared_expert_intermediate_size", config.layer.shared_ffn, 1, kWidestMlp);
    read_qwen_hybrid(in, config);
}

/// Its mixtures always divide the weights of the chosen by their sum.
void read_qwen3_5_moe(text::MappingReader& in, Config& config) {
    in.value("norm_topk_prob");
    config.usually_renormalised = true;
    read_qwen3_next(in, config);
}

void read_qwen3_5(text::MappingReader& in, Config& config) {
    read_qwen3(in, config);
    std::vector<int> dense;
    in.wholes("mlp_only_layers", dense, 0, kMostLayers);  // all of them are
    read_qwen_hybrid(in, config);
}

void read_nemotron_h(text::MappingReader& in, Config& config) {
    read_nemotron_sizes(in, config);
    read_mamba(in, config.layer);
    read_nemotron_experts(in, config);
    if (in.good()) read_nemotron_layers(in, config);
}

}  // namespace debubble::models
