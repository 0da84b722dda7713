#include <algorithm>
#include <array>
#include <cctype>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "models/hf/config.h"

/// Keys of config.json that no reader of a family asks for. Those that every class of transformers
/// may write (PretrainedConfig), and those of how a network is called, initialised or evaluated,
/// say nothing of its operators. Of the others, one whose name speaks of layers and their sizes is
/// a mistake, since the network would be another one; each other one is named in a note.
namespace debubble::models {

namespace {

constexpr std::string_view kOfNoOperator[] = {
    "architectures", "auto_map", "model_type", "text_config", "torch_dtype", "dtype",
    "transformers_version", "_attn_implementation", "attn_implementation", "_name_or_path",
    "is_decoder", "is_encoder_decoder", "chunk_size_feed_forward", "tie_encoder_decoder",
    "return_dict", "output_attentions", "output_hidden_states", "problem_type",
    "classifier_dropout", "task_specific_params", "gradient_checkpointing",
    // How it is asked for texts.
    "num_beams", "num_beam_groups", "num_return_sequences", "no_repeat_ngram_size",
    "encoder_no_repeat_ngram_size", "length_penalty", "repetition_penalty", "temperature", "top_k",
    "top_p", "typical_p", "min_length", "bad_words_ids", "diversity_penalty", "do_sample",
    "early_stopping", "finetuning_task", "output_scores", "prefix", "pruned_heads",
    "remove_invalid_values", "return_dict_in_generate", "suppress_tokens", "tf_legacy_loss",
    "tokenizer_class", "torchscript", "use_bfloat16", "is_encoder", "image_token_rope",
    // Tokens and labels.
    "bos_token_id", "eos_token_id", "pad_token_id", "unk_token_id", "sep_token_id", "mask_token_id",
    "decoder_start_token_id", "id2label", "label2id", "summary_activation", "summary_first_dropout",
    "summary_proj_to_labels", "summary_type", "summary_use_proj",
    // How it is initialised, and how it is run outside its training.
    "initializer_range", "initializer_factor", "init_device", "rescale_prenorm_residual",
    "time_step_min", "time_step_max", "time_step_floor", "use_cache", "cache_implementation",
    "num_logits_to_keep", "use_mamba_kernels", "reorder_and_upcast_attn", "pretraining_tp",
    "encoder_stride", "attn_impl", "ep_size", "ignore_index", "mamba_hidden_act", "use_qkv_fused",
    "fused_experts", "_experts_implementation", "experts_implementation", "time_step_limit",
    "time_step_rank", "rescale_layer", "mamba_ssm_dtype", "mamba_ssm_cache_dtype",
    "residual_in_fp32", "remove_bias", "moe_shared_expert_overlap", "max_sequence_length",
    "seq_length", "max_length", "max_model_len", "model_max_length", "use_flash_attn",
    "use_flash_attention", "is_causal", "expert_dtype", "mlp_only", "enable_expert_parallel",
    "head_dtype", "moe_dropout_prob", "moe_router_enable_expert_bias_update", "init_std",
    "init_method", "initializer_m", "embed_init_std", "embedding_init_std",
    "embedding_initializer_range", "vocab_pad_size", "pad_vocab_size", "hidden_act_param",
    "num_labels", "use_sdpa", "use_cpu_initialization",
    // Terms that a training adds to the loss: training.moe_aux_loss_coeff.
    "output_router_logits", "router_aux_loss_coef", "router_z_loss_coef", "aux_loss_alpha",
    "seq_aux", "moe_aux_loss_coeff", "moe_aux_loss_coef", "aux_loss_coef", "router_aux_coef",
    "moe_capacity", "moe_norm_min", "moe_capacity_factor", "moe_token_dropping", "expert_capacity",
    "capacity_factor", "router_jitter_noise_eps", "input_jitter_noise", "router_jitter_noise",
    "router_aux_loss_factor", "norm_topk_eps",
    // Training in lower precision, and kernels.
    "moe_dtype", "moe_grouped_gemm", "moe_permute_fusion", "fp8_config", "fuse_rms_norm",
    "fuse_attention_qkv", "fuse_attention_ffn", "fuse_linear", "fuse_softmax_mask", "fuse_swiglu",
    "use_rmsnorm_fusion", "recompute_granularity", "use_recompute", "use_fused_rms_norm",
    // Copies of what other keys say.
    "n_ctx", "qk_head_dim", "moe_layers", "no_rope_layer_interval", "base"};

/// Places of dropout other than those of the plan.
constexpr std::string_view kDropouts[] = {
    "attention_dropout", "attn_pdrop",     "embd_pdrop",          "emb_pdrop",
    "resid_pdrop",       "hidden_dropout", "hidden_dropout_prob", "attention_probs_dropout_prob",
    "residual_dropout"};

/// Parts of names of keys that say of which layers a network consists, and of their sizes.
constexpr std::string_view kOfLayers[] = {
    "layer",   "block",        "expert",     "moe",    "head",     "dim",         "rank",
    "lora",    "ffn",          "mlp",        "hidden", "index",    "linear",      "gate",
    "conv",    "ssm",          "mamba",      "kv",     "shared",   "pattern",     "interval",
    "freq",    "stride",       "compress",   "hc_",    "latent",   "altup",       "laurel",
    "window",  "group",        "depth",      "stream", "loop",     "recur",       "parallel",
    "sparse",  "attn",         "attention",  "num_",   "n_",       "router",      "norm",
    "bias",    "intermediate", "width",      "delta",  "kda",      "mla",         "topk",
    "top_k",   "embed",        "retention",  "rwkv",   "engram",   "ngram_vocab", "hash",
    "adapter", "cross",        "multiplier", "scal",   "residual", "memory",      "pooling",
    "branch",  "tie_",         "share",      "dense",  "sink",     "mtp",         "nextn"};

/// Endings of keys of tokens, numbers of images and how numbers are stored.
constexpr std::string_view kOfTokens[] = {"token_id",        "token_ids", "token_index",
                                          "_dtype",          "_token",    "token_per_image",
                                          "tokens_per_image"};

constexpr std::size_t kMostNamed = 24;
constexpr std::size_t kLongestKey = 60;

/// The key as a note can show it: keys may be long, and of any characters.
std::string quoted(std::string_view key) {
    std::string shown(key.substr(0, kLongestKey));
    for (char& letter : shown)
        if (std::iscntrl(static_cast<unsigned char>(letter)) != 0) letter = '?';
    return fmt::format("'{}{}'", shown, key.size() > kLongestKey ? "..." : "");
}

bool is_listed(std::span<const std::string_view> list, std::string_view key) {
    return std::ranges::find(list, key) != list.end();
}

/// Whether the value is that share, or none.
bool is_share(const text::NodePtr& value, double share) {
    if (!value || value->is(text::Node::Kind::Null)) return true;
    if (!value->is(text::Node::Kind::Scalar)) return false;
    return value->scalar == fmt::format("{}", share) ||
           value->scalar == fmt::format("{:.1f}", share);
}

/// No value, or a zero.
bool is_nothing(const text::NodePtr& value) {
    if (!value || value->is(text::Node::Kind::Null)) return true;
    if (value->is(text::Node::Kind::Scalar))
        return value->scalar.empty() || value->scalar == "false" || value->scalar == "0" ||
               value->scalar == "0.0";
    return value->items.empty() && value->entries.empty();
}

/// A number of layers between two of a kind, of groups or a factor may be one.
bool is_neutral_one(std::string_view key, const text::NodePtr& value) {
    constexpr std::array<std::string_view, 8> kOnes{"freq", "interval", "step",       "group",
                                                    "fact", "scal",     "multiplier", "loop"};
    return value->is(text::Node::Kind::Scalar) &&
           (value->scalar == "1" || value->scalar == "1.0") &&
           std::ranges::any_of(kOnes, [&](std::string_view part) {
               return key.find(part) != std::string_view::npos;
           });
}

bool says_nothing(std::string_view key, const text::Node& map, double dropout) {
    if (is_listed(kOfNoOperator, key)) return true;
    if (std::ranges::any_of(kOfTokens, [&](std::string_view end) { return key.ends_with(end); }))
        return true;
    return is_listed(kDropouts, key) && is_share(map.get(key), dropout);
}

bool says_of_layers(std::string_view key, const text::NodePtr& value) {
    if (is_nothing(value) || is_neutral_one(key, value) || is_listed(kDropouts, key)) return false;
    return std::ranges::any_of(
        kOfLayers, [&](std::string_view part) { return key.find(part) != std::string_view::npos; });
}

}  // namespace

void refuse_unread(text::MappingReader& in, const std::vector<std::string_view>& unasked,
                   std::string_view type) {
    for (const std::string_view key : unasked) {
        const text::NodePtr value = in.mapping()->get(key);
        if (says_nothing(key, *in.mapping(), 0) || !says_of_layers(key, value)) continue;
        in.complain(
            key,
            fmt::format(
                "{} is an unknown key for '{}' and may change its layers; delete it if it does not",
                quoted(key), type));
    }
}

std::string unread_keys(const std::vector<std::string_view>& unasked, const text::Node& map,
                        double dropout) {
    std::vector<std::string> keys;
    for (const std::string_view key : unasked) {
        if (says_nothing(key, map, dropout)) continue;
        keys.push_back(quoted(key));
    }
    if (keys.empty()) return {};
    const std::size_t more = keys.size() - std::min(keys.size(), kMostNamed);
    keys.resize(keys.size() - more);
    if (more > 0) keys.push_back(fmt::format("{} more", more));
    const std::string last = std::move(keys.back());
    keys.pop_back();
    const std::string rest = fmt::format("{}", fmt::join(keys, ", "));
    return fmt::format("with {}{}{}, which {} ignored", rest, rest.empty() ? "" : " and ", last,
                       rest.empty() ? "is" : "are");
}

void note_unread(const text::MappingReader& in, std::string_view map,
                 std::vector<std::string>& notes) {
    const std::string note = unread_keys(in.unasked(), *in.mapping(), 0);
    if (!note.empty()) notes.push_back(fmt::format("{} in '{}'", note, map));
}

}  // namespace debubble::models
