#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "models/network/architecture.h"
#include "models/read/layer_keys.h"
#include "text/mapping_reader.h"

/// The parts of which the readers of Hugging Face's config.json consist. Private to the folder:
/// users see hf_config.h.
namespace debubble::models {

/// A file's network, and the keys of its layers.
struct Config {
    Architecture network;
    LayerKeys layer;
    int layers = 1;
    int dense_first = 0;                  ///< layers before those with experts
    std::int64_t dense_ffn = 1;           ///< inner width of the MLPs of layers without experts
    std::optional<Layers> listed = {};    ///< all layers, of a file that says of each what it is
    std::vector<bool> dense = {};         ///< the layers that have no experts, if they are listed
    std::vector<LayerKeys> each = {};     ///< the layers one by one, once they were told apart
    std::vector<std::string> notes = {};  ///< what is left out, as sentences' ends: "without ..."
    // Defaults of a family for read_llama_kind().
    int usual_layers = 32;
    std::int64_t usual_hidden = 4096;
    std::int64_t usual_heads = 32;
    std::optional<std::int64_t> usual_head_dim = {};  ///< unset: the width over the heads
    std::string_view activation_key = "hidden_act";
    Activation usual_activation = Activation::Swiglu;
    /// Words of the activation; unset: SwiGLU's.
    std::optional<std::span<const std::pair<std::string_view, Activation>>> activations = {};
    bool usually_renormalised = false;                    ///< weights of chosen experts
    std::optional<std::int64_t> original_positions = {};  ///< of scaled rotary positions
};

/// The layers one by one, to be changed.
std::vector<LayerKeys>& layers_of(Config& config);
/// Makes a layer one with a dense MLP.
void without_experts(LayerKeys& layer, const Config& config);
/// The network with its layers.
Architecture network_of(Config config);

/// Takes over what the map sets by the keys of this project's own model files.
void override_config(text::MappingReader& in, Architecture& network);

/// Complains if a flag is set that asks for another network.
void refuse_flag(text::MappingReader& in, std::string_view key);
/// Complains if the key is given and not null.
void refuse_given(text::MappingReader& in, std::string_view key, std::string_view sentence);
/// Complains about keys beyond those of the family that make another network of it.
void refuse_beyond(text::MappingReader& in, std::string_view type);
/// Notes keys beyond those of the family that change no figure of a plan; `sees`: the part that
/// sees is planned.
void note_beyond(text::MappingReader& in, Config& config, bool sees = false);
/// Complains about those of the keys that were never asked for which may say of which layers the
/// network consists; `type` is what it was read as.
void refuse_unread(text::MappingReader& in, const std::vector<std::string_view>& unasked,
                   std::string_view type);
/// A note, as a sentence's end, of the other keys that were never asked for and may say something
/// of the network; empty if there is none. One of a dropout says something where it is another one.
std::string unread_keys(const std::vector<std::string_view>& unasked, const text::Node& map,
                        double dropout);
/// Adds that note for a map of that name inside the file.
void note_unread(const text::MappingReader& in, std::string_view map,
                 std::vector<std::string>& notes);
/// True if the key is there and null: a default of the class does not hold.
bool is_null(const text::MappingReader& in, std::string_view key);
/// The sizes of latent attention, by DeepSeek's names.
void read_latent(text::MappingReader& in, LayerKeys& layer);
/// DeepSeek's sigmoid router, whose key of renormalisation read_experts() has read.
void read_sigmoid_router(text::MappingReader& in, Config& config);
/// Shared experts and dense layers before those with experts, by DeepSeek's and GLM's names.
void read_shared_and_dense(text::MappingReader& in, Config& config);
/// Windows of Qwen's files, which also give whether and in which layers they are used.
void read_optional_window(text::MappingReader& in, Config& config);
/// The sizes that every file of today states.
void demand_sizes(text::MappingReader& in);
/// `head_dim` of as many heads as the width gives room for.
void cut_heads(text::MappingReader& in, Config& config, std::string_view heads_key);
/// Rotary positions and their scaling. Since transformers 5 they are in a map of its own.
void read_rope(text::MappingReader& in, Config& config);
/// The share of a head's columns that is rotated, `usual` if no key says it.
void read_rotary_share(text::MappingReader& in, Config& config, std::string_view key, double usual);
/// The map of rotary positions of one type of layer.
void read_rope_of(const text::NodePtr& map, std::string_view name, text::MappingReader& in,
                  Config& config, LayerKeys& layer);
/// Layers without a window have the angles of the whole network; those with one those of `local`,
/// unless a map of angles by kind of layer says otherwise.
void turn_by_layer(text::MappingReader& in, Config& config, LayerKeys local);
/// Biases of the products of attention and of the MLP.
void read_biases(text::MappingReader& in, LayerKeys& layer);
/// The keys that Llama and most networks after it share; `config` holds the defaults of their
/// sizes, 0 key-value heads for as many as heads.
void read_llama_kind(text::MappingReader& in, Config& config);
/// Sets the window of those layers that `layer_types` calls sliding, else of those in `usual`.
void set_windows(text::MappingReader& in, Config& config, std::int64_t window,
                 const std::vector<bool>& usual);
/// Complains if the key has another word than one of these; without the key all is well.
void expect_word(text::MappingReader& in, std::string_view key,
                 std::initializer_list<std::string_view> words);
/// One word or number for each layer, as a list of the file has it; complains about another length.
bool read_of_layers(text::MappingReader& in, const Config& config, std::string_view key,
                    std::vector<std::string>& words);
/// The layers with dense MLPs by the list `mlp_layer_types`, which takes the place of other keys.
void read_listed_dense(text::MappingReader& in, Config& config);
/// The layers with dense MLPs by `moe_layer_freq`, a number, or by that list.
void read_dense_between(text::MappingReader& in, Config& config);
/// A softmax router by `norm_topk_prob`, whether it divides the chosen weights by their sum.
void read_softmax_router(text::MappingReader& in, LayerKeys& layer, bool renormalised);
/// Experts by the names of Qwen's and DeepSeek's files; `count` is the key of their number.
void read_experts(text::MappingReader& in, Config& config, std::string_view count);
/// Modules for the tokens after the next, which a plan has where `mtp_layers` asks for them.
void note_prediction(text::MappingReader& in, Config& config);

/// A kind of network by transformers' `model_type`.
struct HfType {
    std::string_view name;
    void (*read)(text::MappingReader& in, Config& config);
};
std::span<const HfType> hf_types();
/// The type of that name, else nullptr.
const HfType* hf_type(std::string_view name);

void read_gpt2(text::MappingReader& in, Config& config);
void read_llama(text::MappingReader& in, Config& config);
void read_mixtral(text::MappingReader& in, Config& config);
void read_vit(text::MappingReader& in, Config& config);
void read_gpt_neox(text::MappingReader& in, Config& config);
void read_mpt(text::MappingReader& in, Config& config);
void read_mistral(text::MappingReader& in, Config& config);
void read_qwen2(text::MappingReader& in, Config& config);
void read_qwen2_moe(text::MappingReader& in, Config& config);
void read_qwen3(text::MappingReader& in, Config& config);
void read_qwen3_moe(text::MappingReader& in, Config& config);
void read_deepseek_v2(text::MappingReader& in, Config& config);
/// Kimi K2's too.
void read_deepseek_v3(text::MappingReader& in, Config& config);
void read_glm4_moe(text::MappingReader& in, Config& config);
void read_gemma2(text::MappingReader& in, Config& config);
void read_gemma3(text::MappingReader& in, Config& config);
void read_gpt_oss(text::MappingReader& in, Config& config);
void read_llama4(text::MappingReader& in, Config& config);
void read_nemotron(text::MappingReader& in, Config& config);
void read_phi3(text::MappingReader& in, Config& config);
void read_olmo2(text::MappingReader& in, Config& config);

// Networks of which nothing but a name or a place of a norm is new.
void read_gemma(text::MappingReader& in, Config& config);
void read_mimo(text::MappingReader& in, Config& config);
void read_seed_oss(text::MappingReader& in, Config& config);
void read_smollm3(text::MappingReader& in, Config& config);
void read_internlm3(text::MappingReader& in, Config& config);
void read_olmo3(text::MappingReader& in, Config& config);
void read_ernie4_5(text::MappingReader& in, Config& config);
void read_hunyuan_dense(text::MappingReader& in, Config& config);
void read_glm(text::MappingReader& in, Config& config);
void read_glm4(text::MappingReader& in, Config& config);
void read_exaone4(text::MappingReader& in, Config& config);
void read_arcee(text::MappingReader& in, Config& config);
void read_granite(text::MappingReader& in, Config& config);

// Mixtures of experts.
void read_olmoe(text::MappingReader& in, Config& config);
void read_dots1(text::MappingReader& in, Config& config);
void read_minimax_m2(text::MappingReader& in, Config& config);
void read_ernie4_5_moe(text::MappingReader& in, Config& config);
void read_hunyuan_moe(text::MappingReader& in, Config& config);
void read_glm4_moe_lite(text::MappingReader& in, Config& config);
void read_glm4v_moe(text::MappingReader& in, Config& config);

// Networks of newer_configs.cpp and newer_mixtures.cpp.
void read_cwm(text::MappingReader& in, Config& config);
void read_exaone(text::MappingReader& in, Config& config);
void read_helium(text::MappingReader& in, Config& config);
void read_hyperclovax(text::MappingReader& in, Config& config);
void read_jais2(text::MappingReader& in, Config& config);
void read_starcoder2(text::MappingReader& in, Config& config);
void read_stablelm(text::MappingReader& in, Config& config);
void read_apertus(text::MappingReader& in, Config& config);
void read_youtu(text::MappingReader& in, Config& config);
void read_minicpm3(text::MappingReader& in, Config& config);
void read_vaultgemma(text::MappingReader& in, Config& config);
void read_granite_swa(text::MappingReader& in, Config& config);
void read_olmo_hybrid(text::MappingReader& in, Config& config);
void read_kolibri1(text::MappingReader& in, Config& config);
void read_flint(text::MappingReader& in, Config& config);
void read_granite_moe_swa(text::MappingReader& in, Config& config);
void read_mistral4(text::MappingReader& in, Config& config);
void read_solar_open(text::MappingReader& in, Config& config);
void read_exaone_moe(text::MappingReader& in, Config& config);
void read_hy_v3(text::MappingReader& in, Config& config);
void read_flex_olmo(text::MappingReader& in, Config& config);
void read_laguna(text::MappingReader& in, Config& config);
void read_mellum(text::MappingReader& in, Config& config);
void read_afmoe(text::MappingReader& in, Config& config);
void read_granite_moe(text::MappingReader& in, Config& config);
void read_sarvam_moe(text::MappingReader& in, Config& config);
void read_sarvam_mla(text::MappingReader& in, Config& config);

// Networks with a part parallel to attention, and Bamba.
void read_falcon_h1(text::MappingReader& in, Config& config);
void read_bamba(text::MappingReader& in, Config& config);
void read_cohere(text::MappingReader& in, Config& config);
void read_cohere2(text::MappingReader& in, Config& config);
void read_cohere2_moe(text::MappingReader& in, Config& config);
void read_falcon(text::MappingReader& in, Config& config);

// Networks whose layers have attention of several sizes.
void read_mimo_v2(text::MappingReader& in, Config& config);
void read_step3(text::MappingReader& in, Config& config);
void read_gemma4(text::MappingReader& in, Config& config);
void read_searched(text::MappingReader& in, Config& config);

// Networks whose attention chooses keys.
void read_deepseek_v32(text::MappingReader& in, Config& config);
void read_minimax_m3(text::MappingReader& in, Config& config);
void read_deepseek_v4(text::MappingReader& in, Config& config);

/// The vision tower of a file's kind and hidden size; its parameters alone where the file does not
/// say its sizes, and 0 where its class is not known.
struct SeenTower {
    std::optional<VisionTower> tower = {};
    std::int64_t parameters = 0;
};
SeenTower tower_of(const text::MappingReader& outer, std::int64_t hidden);

// Networks with recurrent layers.
void read_kimi_linear(text::MappingReader& in, Config& config);
void read_jamba(text::MappingReader& in, Config& config);
void read_mamba1(text::MappingReader& in, Config& config);
void read_mamba2(text::MappingReader& in, Config& config);
void read_falcon_mamba(text::MappingReader& in, Config& config);
void read_bailing_hybrid(text::MappingReader& in, Config& config);
void read_minimax(text::MappingReader& in, Config& config);
void read_granite_hybrid(text::MappingReader& in, Config& config);
void read_qwen3_5(text::MappingReader& in, Config& config);
void read_qwen3_5_moe(text::MappingReader& in, Config& config);
void read_qwen3_next(text::MappingReader& in, Config& config);
void read_nemotron_h(text::MappingReader& in, Config& config);

}  // namespace debubble::models
