#include <algorithm>
#include <cctype>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "models/hf_config.h"

/// Keys of config.json that no reader of a family asks for. Those that every class of transformers
/// may write (PretrainedConfig), and those of how a network is called, initialised or evaluated,
/// say nothing of its operators; each other one is named in a note.
namespace debubble::models {

namespace {

constexpr std::string_view kOfNoOperator[] = {
    "architectures", "auto_map", "model_type", "text_config", "torch_dtype", "dtype",
    "transformers_version", "_attn_implementation", "attn_implementation", "_name_or_path",
    "is_decoder", "is_encoder_decoder", "chunk_size_feed_forward", "tie_encoder_decoder",
    "return_dict", "output_attentions", "output_hidden_states", "problem_type",
    "classifier_dropout", "task_specific_params", "gradient_checkpointing",
    // Tokens and labels.
    "bos_token_id", "eos_token_id", "pad_token_id", "unk_token_id", "sep_token_id", "mask_token_id",
    "decoder_start_token_id", "id2label", "label2id", "summary_activation", "summary_first_dropout",
    "summary_proj_to_labels", "summary_type", "summary_use_proj",
    // How it is initialised, and how it is run beside its training.
    "initializer_range", "initializer_factor", "init_device", "rescale_prenorm_residual",
    "time_step_min", "time_step_max", "time_step_floor", "use_cache", "cache_implementation",
    "num_logits_to_keep", "use_mamba_kernels", "reorder_and_upcast_attn", "pretraining_tp",
    "encoder_stride", "attn_impl", "ep_size",
    // What a training adds to the loss: training.moe_aux_loss_coeff says it.
    "output_router_logits", "router_aux_loss_coef", "router_z_loss_coef", "aux_loss_alpha",
    "seq_aux",
    // Copies of what other keys say.
    "n_ctx", "qk_head_dim", "moe_layers", "no_rope_layer_interval", "base"};

/// Where dropout may stand beside the places that the plan has it.
constexpr std::string_view kDropouts[] = {
    "attention_dropout", "attn_pdrop",     "embd_pdrop",          "emb_pdrop",
    "resid_pdrop",       "hidden_dropout", "hidden_dropout_prob", "attention_probs_dropout_prob",
    "residual_dropout"};

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

}  // namespace

std::string unread_keys(const std::vector<std::string_view>& unasked, const text::Node& map,
                        double dropout) {
    std::vector<std::string> keys;
    for (const std::string_view key : unasked) {
        if (is_listed(kOfNoOperator, key)) continue;
        if (is_listed(kDropouts, key) && is_share(map.get(key), dropout)) continue;
        if (key == "router_jitter_noise" && is_share(map.get(key), 0)) continue;
        keys.push_back(quoted(key));
    }
    if (keys.empty()) return {};
    const std::size_t more = keys.size() - std::min(keys.size(), kMostNamed);
    keys.resize(keys.size() - more);
    if (more > 0) keys.push_back(fmt::format("{} more", more));
    const std::string last = std::move(keys.back());
    keys.pop_back();
    const std::string rest = fmt::format("{}", fmt::join(keys, ", "));
    return fmt::format("whose {}{}{} {} not read", rest, rest.empty() ? "" : " and ", last,
                       rest.empty() ? "is" : "are");
}

void note_unread(const text::MappingReader& in, std::string_view map,
                 std::vector<std::string>& notes) {
    const std::string note = unread_keys(in.unasked(), *in.mapping(), 0);
    if (!note.empty()) notes.push_back(fmt::format("{} in '{}'", note, map));
}

}  // namespace debubble::models
