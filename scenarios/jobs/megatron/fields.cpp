#include <algorithm>
#include <array>
#include <cctype>

#include "scenarios/jobs/megatron/megatron.h"
#include "scenarios/jobs/megatron/network.h"

namespace debubble::jobs {
namespace {

using text::Node;
using text::NodePtr;

/// Fields whose flag takes them away: --no-a-b or --disable-a-b is a_b: false.
constexpr std::array<std::string_view, 15> kTrueByDefault{"rope_fusion",
                                                          "gradient_accumulation_fusion",
                                                          "bias_swiglu_fusion",
                                                          "bias_gelu_fusion",
                                                          "bias_dropout_fusion",
                                                          "masked_softmax_fusion",
                                                          "bias_linear",
                                                          "create_attention_mask_in_dataloader",
                                                          "position_embedding",
                                                          "should_pad_vocab",
                                                          "overlap_p2p_communication",
                                                          "persist_layer_norm",
                                                          "async_tensor_model_parallel_allreduce",
                                                          "scatter_gather_tensors_in_pipeline",
                                                          "align_grad_reduce"};

/// Other names, of flags, of TransformerConfig and of Megatron-Bridge, in addition to
/// Megatron-LM's.
constexpr std::pair<std::string_view, std::string_view> kAliases[] = {
    {"model_parallel_size", "tensor_model_parallel_size"},
    {"apply_rope_fusion", "rope_fusion"},
    {"add_bias_linear", "bias_linear"},
    {"bias_activation_fusion", "bias_swiglu_fusion"},
    {"num_moe_experts", "num_experts"},
    {"layernorm_epsilon", "norm_epsilon"},
    {"fp8", "fp8_format"},
    {"fp8_param", "fp8_param_gather"},
    {"fp4", "fp4_format"},
    {"fp4_param", "fp4_param_gather"},
    {"num_layers_in_first_pipeline_stage", "decoder_first_pipeline_num_layers"},
    {"num_layers_in_last_pipeline_stage", "decoder_last_pipeline_num_layers"},
    {"virtual_pipeline_model_parallel_size", "num_virtual_stages_per_pipeline_rank"},
    {"encoder_seq_length", "seq_length"},
    {"encoder_num_layers", "num_layers"},
    {"cuda_graph_scope", "cuda_graph_modules"},
    {"recompute", "recompute_modules"},
    {"use_custom_fsdp", "use_megatron_fsdp"},
    {"delay_wgrad", "delay_wgrad_compute"},
    {"moe_router_num_groups", "moe_router_num_groups"},
    {"moe_shared_expert_size", "moe_shared_expert_intermediate_size"},
    {"hybrid_override_pattern", "hybrid_layer_pattern"},
    {"pad_vocab_size", "should_pad_vocab"},
    {"batch_size", "micro_batch_size"},
    {"linear_attention_type", "experimental_attention_variant"},
    {"use_gated_attention", "attention_output_gate"},
    {"moe_train_capacity_factor", "moe_expert_capacity_factor"},
    {"num_key_value_heads", "num_query_groups"},
    {"moe_expert_parallel_size", "expert_model_parallel_size"},
    {"nproc_per_node", "nproc_per_node"},
    {"fused_attention_softmax", "masked_softmax_fusion"},
    {"overlap_p2p_comm", "overlap_p2p_communication"},
    {"calculate_per_token_loss", "calculate_per_token_loss"}};

std::string_view renamed(std::string_view name) {
    for (const auto& [other, field] : kAliases)
        if (name == other) return field;
    return name;
}

NodePtr word_at(std::string text, const text::SourcePosition& place) {
    return text::make_scalar(std::move(text), place);
}

}  // namespace

bool same_word(std::string_view one, std::string_view other) {
    return std::ranges::equal(one, other, [](unsigned char a, unsigned char b) {
        return std::tolower(a) == std::tolower(b);
    });
}

void rename_to_fields(Settings& settings) {
    std::vector<Setting> more;
    settings.transform([&](Setting& setting) {
        for (const std::string_view prefix : {"no_", "disable_"}) {
            if (!setting.name.starts_with(prefix)) continue;
            const std::string rest(renamed(std::string_view(setting.name).substr(prefix.size())));
            if (std::ranges::find(kTrueByDefault, rest) == kTrueByDefault.end()) continue;
            const bool off = setting.value->is(Node::Kind::Null) ||
                             (setting.value->scalar != "false" &&
                              setting.value->scalar != "False" && setting.value->scalar != "0");
            setting.name = rest;
            setting.value = word_at(off ? "false" : "true", setting.place);
        }
        if (setting.name == "use_rotary_position_embeddings") {
            const bool on = setting.value->is(Node::Kind::Null) || setting.value->scalar == "true";
            setting.name = on ? "position_embedding_type" : "use_rotary_position_embeddings";
            if (on) setting.value = word_at("rope", setting.place);
        } else if (setting.name == "share_embeddings_and_output_weights") {
            const bool shared =
                setting.value->scalar != "false" && setting.value->scalar != "False";
            setting.name = "untie_embeddings_and_output_weights";
            setting.value = word_at(shared ? "false" : "true", setting.place);
        } else if (setting.name == "ds_sequence_parallel_size") {  // DeepSpeed-Ulysses
            more.push_back({"cp_comm_type", setting.written, word_at("a2a", setting.place),
                            setting.place, true});
            setting.name = "context_parallel_size";
        } else {
            setting.name = renamed(setting.name);
        }
        return true;
    });
    for (Setting& setting : more) settings.add(std::move(setting));
}

std::optional<std::vector<int>> python_list(std::string_view text) {
    // list = term (+ term)*; term = (list | [ints]) (* count)*
    struct Reader {
        std::string_view text;
        std::size_t at = 0;
        int depth = 0;
        bool take(char c) {
            while (at < text.size() && text[at] == ' ') ++at;
            if (at >= text.size() || text[at] != c) return false;
            ++at;
            return true;
        }
        std::optional<int> number() {
            while (at < text.size() && text[at] == ' ') ++at;
            std::optional<int> value;
            while (at < text.size() && text[at] >= '0' && text[at] <= '9') {
                value = value.value_or(0) * 10 + (text[at++] - '0');
                if (*value > 100'000) return {};
            }
            return value;
        }
        std::optional<std::vector<int>> term() {
            if (++depth > 20) return {};
            std::optional<std::vector<int>> items;
            if (take('(')) {
                items = list();
                if (!items || !take(')')) return {};
            } else if (take('[')) {
                items.emplace();
                while (!take(']')) {
                    const std::optional<int> value = number();
                    if (!value) return {};
                    items->push_back(*value);
                    take(',');
                }
            } else {
                return {};
            }
            while (take('*')) {
                const std::optional<int> times = number();
                if (!times || items->size() * static_cast<std::size_t>(*times) > 20'000) return {};
                const std::vector<int> once = *items;
                items->clear();
                for (int i = 0; i < *times; ++i)
                    items->insert(items->end(), once.begin(), once.end());
            }
            --depth;
            return items;
        }
        std::optional<std::vector<int>> list() {
            std::optional<std::vector<int>> all = term();
            while (all && take('+')) {
                const std::optional<std::vector<int>> more = term();
                if (!more || all->size() + more->size() > 20'000) return {};
                all->insert(all->end(), more->begin(), more->end());
            }
            return all;
        }
    } reader{text};
    std::optional<std::vector<int>> all = reader.list();
    while (reader.at < text.size() && text[reader.at] == ' ') ++reader.at;
    if (reader.at != text.size()) return {};
    return all;
}

void read_megatron(Reading& job, const MegatronDialect& dialect) {
    if (!job.has_model()) {
        read_megatron_network(job);
        read_megatron_model(job);
        read_megatron_experts(job);
    }
    MegatronCut cut = read_megatron_cut(job, dialect);
    read_megatron_training(job, dialect, cut);
    read_megatron_framework(job, dialect, cut);
    sort_left_settings(job, dialect.tool);
    note_megatron_refusals(job, dialect, cut);
}

}  // namespace debubble::jobs
