#include "scenarios/jobs/megatron/network.h"

#include <algorithm>
#include <array>
#include <cmath>

#include <fmt/format.h>

#include "scenarios/jobs/megatron/megatron.h"
#include "scenarios/jobs/read/script_settings.h"

namespace debubble::jobs {
namespace {

/// Modules that build layers, by the --spec that names them.
enum class Spec { Unknown, Plain, Hybrid, SlimeQwen, SlimeNorms, SlimeWideNorms };

struct SpecModule {
    std::string_view module;
    Spec spec;
};

constexpr std::array<SpecModule, 10> kSpecs{
    {{"local", Spec::Plain},
     {"megatron.core.models.gpt.gpt_layer_specs", Spec::Plain},
     {"megatron.core.models.gpt.experimental_attention_variant_module_specs", Spec::Plain},
     {"megatron.core.models.hybrid.hybrid_layer_specs", Spec::Hybrid},
     {"megatron.core.models.mamba.mamba_layer_specs", Spec::Hybrid},
     {"primus.backends.megatron.core.models.mamba.mamba_layer_specs", Spec::Hybrid},
     {"slime_plugins.models.qwen3_5", Spec::SlimeQwen},
     {"slime_plugins.models.qwen3_next", Spec::SlimeQwen},
     {"slime_plugins.models.glm4", Spec::SlimeNorms},
     {"slime_plugins.models.minimax_m2", Spec::SlimeWideNorms}}};

std::vector<std::string> spec_words(Settings& in) {
    std::vector<std::string> words;
    if (in.find("spec") == nullptr) return words;
    for (std::string word : in.words("spec")) {
        std::erase_if(word, [](char c) { return c == '[' || c == ']' || c == '\'' || c == '"'; });
        for (std::size_t at = 0; at < word.size();) {
            const std::size_t end = std::min(word.find_first_of(", ", at), word.size());
            if (end > at) words.push_back(word.substr(at, end - at));
            at = end + 1;
        }
    }
    return words;
}

Spec spec_of(Settings& in) {
    const std::vector<std::string> words = spec_words(in);
    if (words.empty()) return Spec::Plain;
    for (const SpecModule& one : kSpecs)
        if (words.front() == one.module) return one.spec;
    return Spec::Unknown;
}

void check_spec(Reading& job) {
    Settings& in = job.in;
    const Spec spec = spec_of(in);
    const std::vector<std::string> words = spec_words(in);
    if (!words.empty() && words.front() == "local")
        job.refuse_network(
            *in.find("spec"),
            "'local' is a word of Megatron-LM's pretrain_bert.py, but BERT is not supported");
    else if (spec == Spec::Unknown)
        job.refuse_network(*in.find("spec"),
                           fmt::format("{} of {} builds the layers, but is unknown",
                                       words.size() > 1 ? words[1] : "a function", words.front()));
}

void check_programs(Reading& job) {
    for (const Setting& setting : job.in.all()) {
        if (setting.name != kEntryPoint || setting.value->scalar.empty()) continue;
        const std::string_view what = other_network_of(setting.value->scalar);
        if (!what.empty())
            job.refuse_network(setting,
                               fmt::format("this program {}, which is not supported", what));
    }
    job.in.find(kEntryPoint);
}

void check_provider(Reading& job) {
    const Setting* const provider = job.in.find(kProvider);
    if (provider == nullptr) return;
    if (const std::string_view what = other_network_of_class(provider->value->scalar);
        !what.empty())
        job.refuse_network(
            *provider, fmt::format("{} {}, which is not supported", provider->value->scalar, what));
}

void check_model_type(Reading& job) {
    const std::optional<std::string> type = job.in.word("model_type");
    if (type && *type != "gpt" && *type != "mamba" && *type != "hybrid")
        job.refuse_network(*job.in.find("model_type"),
                           fmt::format("networks of the type '{}' are not supported", *type));
}

void check_attention(Reading& job) {
    Settings& in = job.in;
    const std::string variant = in.word("experimental_attention_variant").value_or("");
    const Setting* const from = in.find("experimental_attention_variant");
    if (variant == "dsa")
        job.refuse_network(*from,
                           "DeepSeek's sparse attention and its indexer are not supported in jobs");
    else if (variant == "gdn2")
        job.refuse_network(*from, "Gated DeltaNet-2 is not supported");
    else if (!variant.empty() && variant != "gdn" && variant != "gated_delta_net")
        job.refuse_network(*from,
                           fmt::format("'{}' is not a supported kind of attention", variant));
    if (variant.empty() && in.has("linear_attention_freq") && !has_delta_nets(job))
        job.note(*in.find("linear_attention_freq"),
                 "it applies only with --experimental-attention-variant, which is absent");
    for (const char* name :
         {"linear_conv_kernel_dim", "linear_key_head_dim", "linear_value_head_dim",
          "linear_num_key_heads", "linear_num_value_heads", "linear_attention_freq"})
        in.find(name);
}

/// Words of which another one would be planned in silence.
void check_words(Reading& job) {
    Settings& in = job.in;
    const auto check = [&](const char* name, std::initializer_list<const char*> known,
                           const char* sentence) {
        const std::optional<std::string> word = in.word(name);
        const auto same = [&](const char* one) { return same_word(*word, one); };
        if (word && std::ranges::none_of(known, same))
            job.refuse_network(*in.find(name), fmt::format("'{}' {}", *word, sentence));
    };
    check("position_embedding_type",
          {"learned_absolute", "learned", "absolute", "rope", "yarn", "mrope", "none", "alibi"},
          "is not a supported position embedding");
    check("normalization", {"LayerNorm", "RMSNorm"}, "is not a supported norm");
    check("mlp_type", {"standard"}, "is a parallel MLP, which is not supported");
    check("softmax_type", {"vanilla", "learnable", "off-by-one", "off_by_one"},
          "is not a supported softmax");
    check("moe_router_score_function", {"softmax", "sigmoid", "sqrtsoftplus"},
          "is not a supported score function of a router");
}

/// Tokenizers whose programs train encoders: a list of arguments names no program.
void check_tokenizer(Reading& job) {
    const Setting* const tokenizer = job.in.find("tokenizer_type");
    if (tokenizer != nullptr && tokenizer->value->scalar.starts_with("BertWordPiece"))
        job.refuse_network(*tokenizer,
                           "networks with this tokenizer are BERT and T5, which are not supported");
}

/// Megatron-DeepSpeed: --num-experts 1 is a dense network, a list has the experts of each layer
/// that has some, and --topk is the router's.
void settle_deepspeed_experts(Settings& in) {
    if (!is_megatron_deepspeed(in)) return;
    const Setting* const said = in.find("num_experts");
    if (said == nullptr || !said->known) return;
    Setting experts = *said;
    if (experts.value->is(text::Node::Kind::List) && !experts.value->items.empty()) {
        Setting each = experts;
        each.name = kExpertsOfLayers;
        in.add(each);
        experts.value = experts.value->items.front();
    } else if (number_of(experts.value->scalar) == 1.0) {
        experts.value = text::make_scalar("None", experts.place);
    }
    in.add(experts);
    if (in.has("moe_router_topk")) return;
    if (const Setting* const topk = in.find("topk"))
        experts = *topk;
    else
        experts.value = text::make_scalar("1", experts.place);
    experts.name = "moe_router_topk";
    in.add(experts);
}

/// Primus's defaults of networks with Mamba are those of its mamba_base.yaml.
void settle_primus_mamba(Settings& in) {
    const std::string type = in.word("model_type").value_or("");
    const Setting* const tied = in.find("untie_embeddings_and_output_weights");
    const bool is_default =
        tied != nullptr && tied->written.find("(Primus's default)") != std::string::npos;
    if (type != "mamba" || !is_default) return;
    Setting one = *tied;
    const auto add = [&](const char* name, const char* value) {
        one.name = name;
        one.written = fmt::format("{} (Primus's default for mamba)", name);
        one.value = text::make_scalar(value, one.place);
        in.add(one);
    };
    add("untie_embeddings_and_output_weights", "false");
    for (const auto& [name, value] :
         {std::pair<const char*, const char*>{"position_embedding_type", "rope"},
          {"hidden_dropout", "0"},
          {"attention_dropout", "0"}})
        if (!in.has(name)) add(name, value);
}

/// A pattern says how many layers there are.
void settle_layers(Reading& job) {
    if (!is_hybrid(job) || !job.in.has("hybrid_layer_pattern")) return;
    Setting layers = *job.in.find("hybrid_layer_pattern");
    if (!layers.known) return;  // said where it is read
    const std::size_t count = hybrid_pattern(job).letters.size();
    layers.name = "num_layers";
    layers.value = text::make_scalar(std::to_string(count), layers.place);
    job.in.add(layers);
}

}  // namespace

void read_norm_positions(Reading& job) {
    Settings& in = job.in;
    const bool attention = in.is_on("post_self_attn_layernorm");
    const bool mlp = in.is_on("post_mlp_layernorm");
    if (attention && mlp)
        job.set("model.norm_position", std::string("both"), in.find("post_self_attn_layernorm"));
    else if (attention || mlp)
        job.refuse_network(*in.find(attention ? "post_self_attn_layernorm" : "post_mlp_layernorm"),
                           "a norm after only one of attention and MLP is not supported");
}

bool is_megatron_deepspeed(Settings& in) {
    return in.is_on("deepspeed") || in.has("deepspeed_config") || in.has("zero_stage") ||
           in.has("moe_expert_parallel_size") || in.has("expert_interval") ||
           in.has("ds_sequence_parallel_size");
}

bool is_hybrid(Reading& job) {
    Settings& in = job.in;
    const std::string type = in.word("model_type").value_or("");
    const auto hybrid = [](const Setting& setting) {
        return setting.name == kEntryPoint && is_hybrid_program(setting.value->scalar);
    };
    return in.has("hybrid_layer_pattern") || in.is_on("is_hybrid_model") || type == "mamba" ||
           type == "hybrid" || spec_of(in) == Spec::Hybrid || std::ranges::any_of(in.all(), hybrid);
}

bool has_wide_norms(Reading& job) {
    return spec_of(job.in) == Spec::SlimeWideNorms;
}

bool has_delta_nets(Reading& job) {
    const std::string variant = job.in.word("experimental_attention_variant").value_or("");
    return variant == "gdn" || variant == "gated_delta_net" || spec_of(job.in) == Spec::SlimeQwen;
}

void read_delta_net(Reading& job) {
    Settings& in = job.in;
    // Qwen3-Next is of one size, whose config.json has Megatron-LM's defaults.
    const bool of_one_size =
        spec_of(in) == Spec::SlimeQwen && spec_words(in).front().ends_with(".qwen3_next");
    const bool in_checkpoint =
        spec_of(in) == Spec::SlimeQwen && !of_one_size && !in.has("linear_num_value_heads");
    if (in_checkpoint && job.given("model.delta_net")) return;
    if (in_checkpoint)
        return job.refuse(
            *in.find("spec"),
            fmt::format("{}: how many heads do the gated delta nets of {} have? The checkpoint's "
                        "config.json has them (linear_num_key_heads, linear_num_value_heads); give "
                        "them by --set model.delta_net='{{key_heads: N, value_heads: N}}', or the "
                        "model by --set model=FILE",
                        in.find("spec")->written, spec_words(in).front()));
    const auto of = [&](const char* name, std::int64_t otherwise) {
        return in.whole(name, 1, kMost).value_or(otherwise);
    };
    const Setting* from = in.find("linear_num_value_heads");
    if (from == nullptr) from = in.find("experimental_attention_variant");
    job.set("model.delta_net",
            fmt::format("{{key_heads: {}, value_heads: {}, key_dim: {}, value_dim: {}, "
                        "convolution: {}}}",
                        of("linear_num_key_heads", 16), of("linear_num_value_heads", 32),
                        of("linear_key_head_dim", 128), of("linear_value_head_dim", 128),
                        of("linear_conv_kernel_dim", 4)),
            from);
}

std::optional<std::int64_t> megatron_window(Reading& job) {
    const std::vector<std::string> window = job.in.words("window_size");
    if (window.empty()) return {};
    const std::string first = window.front().substr(0, window.front().find(','));
    const auto left = number_of(first.starts_with('(') ? first.substr(1) : first);
    if (!left || *left < 0 || *left >= kMost) return {};
    return static_cast<std::int64_t>(*left) + 1;
}

void read_megatron_network(Reading& job) {
    settle_deepspeed_experts(job.in);
    settle_primus_mamba(job.in);
    settle_layers(job);
    check_programs(job);
    check_provider(job);
    check_model_type(job);
    check_spec(job);
    check_attention(job);
    check_words(job);
    check_tokenizer(job);
}

}  // namespace debubble::jobs
