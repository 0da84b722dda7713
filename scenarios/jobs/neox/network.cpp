#include <algorithm>

#include <fmt/format.h>

#include "scenarios/jobs/neox/neox.h"

/// The network of a GPT-NeoX configuration (ea7aefd8, megatron/model/transformer.py, norms.py,
/// activations.py).
namespace debubble::jobs {
namespace {

using text::Node;

struct NeoxActivation {
    std::string_view word;
    std::string_view plan;  ///< of a scenario
    bool gated;
};
constexpr NeoxActivation kNeoxActivations[] = {{"gelu", "gelu", false},
                                               {"relu", "relu", false},
                                               {"swiglu", "swiglu", true},
                                               {"geglu", "geglu", true}};

struct NeoxWord {
    std::string_view word, megatron;
};
constexpr NeoxWord kNeoxNorms[] = {{"layernorm", "LayerNorm"},
                                   {"te_layernorm", "LayerNorm"},
                                   {"rmsnorm", "RMSNorm"},
                                   {"te_rmsnorm", "RMSNorm"}};
constexpr NeoxWord kNeoxPositions[] = {
    {"learned", "learned_absolute"}, {"rotary", "rope"}, {"alibi", "alibi"}, {"none", "none"}};

/// Adds Megatron-LM's word for one of GPT-NeoX's, or refuses it.
template <std::size_t n>
void settle_word(Reading& job, const char* name, std::string_view usual, std::string_view field,
                 const NeoxWord (&words)[n], std::string_view what) {
    const std::string word = job.in.word(name).value_or(std::string(usual));
    const Setting* const from = job.in.find(name);
    const auto* const known = std::ranges::find(words, word, &NeoxWord::word);
    if (known == std::end(words))
        return job.refuse_network(*from, fmt::format("{} '{}' are not supported", what, word));
    const Setting* const base = from != nullptr ? from : job.in.find("num_layers");
    if (base == nullptr) return;
    Setting setting = *base;
    setting.name = field;
    if (from == nullptr) setting.written = std::string(name) + " (GPT-NeoX's default)";
    setting.value = text::make_scalar(std::string(known->megatron), setting.place);
    job.in.add(std::move(setting));
}

void settle(Reading& job, std::string_view field, const std::string& value, const Setting& from) {
    Setting setting = from;
    setting.name = field;
    setting.value = text::make_scalar(value, from.place);
    job.in.add(std::move(setting));
}

const NeoxActivation* neox_activation(Reading& job) {
    const std::string word = job.in.word("activation").value_or("gelu");
    const auto* const known = std::ranges::find(kNeoxActivations, word, &NeoxActivation::word);
    return known == std::end(kNeoxActivations) ? nullptr : known;
}

std::int64_t up_to(std::int64_t value, std::int64_t multiple) {
    return (value + multiple - 1) / multiple * multiple;
}

/// The inner width of an MLP: ParallelMLP takes two thirds of it for a gated one, halves that, and
/// rounds up.
void settle_width(Reading& job, bool gated) {
    Settings& in = job.in;
    const std::int64_t hidden = in.whole("hidden_size", 1, kMost).value_or(0);
    const auto given = in.whole("intermediate_size", 1, kMost);
    const auto factor = in.real("expansion_factor");
    const std::int64_t multiple = in.whole("mlp_multiple_of", 1, 1'000'000).value_or(1);
    const Setting* const from = in.find(given    ? "intermediate_size"
                                        : factor ? "expansion_factor"
                                                 : "hidden_size");
    if (hidden == 0 || from == nullptr) return;
    if (given && factor)
        return job.refuse(*in.find("expansion_factor"),
                          "GPT-NeoX takes intermediate_size or expansion_factor, not both");
    std::int64_t width = 4 * hidden;
    if (given) width = *given;
    if (factor && *factor > 0 && *factor < 1000)
        width = static_cast<std::int64_t>(*factor * static_cast<double>(hidden));
    if (!gated)
        return settle(job, "ffn_hidden_size", std::to_string(up_to(width, multiple)), *from);
    const std::int64_t both = width * 2 / 3;
    const std::int64_t half = up_to(both / 2, multiple);
    if (up_to(both, 2 * multiple) != 2 * half)
        job.note(*from,
                 fmt::format(
                     "GPT-NeoX would refuse this: the halves of the gated MLP have {} columns, but "
                     "the GEMM after them takes {} (megatron/model/transformer.py, ParallelMLP)",
                     up_to(both, 2 * multiple) / 2, half),
                 Harm::Refused);
    if (given)
        job.note(
            *from,
            fmt::format(
                "for a gated MLP GPT-NeoX uses a third of {}, so that each half has {} columns",
                width, half));
    settle(job, "ffn_hidden_size", std::to_string(half), *from);
}

/// The kinds of attention of every layer, as `[[["flash", "global"], 6]]` lists them.
std::vector<std::string> attention_kinds(Reading& job, const Setting& setting,
                                         std::int64_t layers) {
    std::vector<std::string> kinds;
    const auto wrong = [&] {
        job.refuse(setting,
                   "attention_config must be a list of [[kinds of attention], layers of each]");
        return std::vector<std::string>();
    };
    if (!setting.value->is(Node::Kind::List)) return wrong();
    const auto is_kind = [](const text::NodePtr& item) { return item->is(Node::Kind::Scalar); };
    const bool of_each = std::ranges::all_of(setting.value->items, is_kind);
    for (const text::NodePtr& item : setting.value->items)
        if (of_each) kinds.push_back(item->scalar);
    for (const text::NodePtr& item : setting.value->items) {
        if (of_each) break;
        if (!item->is(Node::Kind::List) || item->items.size() != 2 ||
            !item->items[0]->is(Node::Kind::List) || item->items[0]->items.empty())
            return wrong();
        std::vector<std::string> pattern;
        for (const text::NodePtr& kind : item->items[0]->items) pattern.push_back(kind->scalar);
        const text::NodePtr& times = item->items[1];
        const auto count = number_of(times->scalar);
        if (times->scalar != "all" && (!count || *count < 1 || *count > 10'000)) return wrong();
        const auto size = static_cast<std::int64_t>(pattern.size());
        const std::int64_t rest = layers - static_cast<std::int64_t>(kinds.size());
        // Without a number of layers one turn tells the kinds.
        const std::int64_t turns = times->scalar == "all"
                                       ? std::max<std::int64_t>(rest / size, layers > 0 ? 0 : 1)
                                       : static_cast<std::int64_t>(*count);
        for (std::int64_t i = 0; i < turns && kinds.size() < 20'000; ++i)
            kinds.insert(kinds.end(), pattern.begin(), pattern.end());
    }
    if (layers > 0 && static_cast<std::int64_t>(kinds.size()) != layers) {
        job.refuse(setting, fmt::format("attention_config has {} layers, but the model has {}",
                                        kinds.size(), layers));
        return {};
    }
    return kinds;
}

/// The family of networks that add attention and MLP in one sum, with all in which the others
/// differ from it.
void set_parallel_residual(Reading& job) {
    Settings& in = job.in;
    job.set("model.family", std::string("gpt_neox"), in.find("gpt_j_residual"));
    const std::string positions = in.word("position_embedding_type").value_or("learned_absolute");
    job.set("model.positions", positions == "learned_absolute" ? "learned" : positions,
            in.find("pos_emb"));
    job.set("model.norm",
            std::string(in.word("normalization") == "RMSNorm" ? "rms_norm" : "layer_norm"),
            in.find("norm"));
    job.set("model.tied_embedding", !in.is_on("untie_embeddings_and_output_weights"),
            in.find("untie_embeddings_and_output_weights"));
    job.set("model.linear_bias", in.flag("bias_linear").value_or(true), in.find("bias_linear"));
}

}  // namespace

void settle_neox_attention(Reading& job, std::int64_t layers) {
    Settings& in = job.in;
    const Setting* const setting = in.find("attention_config");
    if (setting == nullptr) return;
    const Setting from = *setting;
    const std::vector<std::string> kinds = attention_kinds(job, from, layers);
    const auto flash = std::ranges::count(kinds, "flash");
    for (const std::string& kind : kinds)
        if (kind != "flash" && kind != "global")
            return job.refuse_network(
                from, fmt::format("layers of the kind '{}' are not supported; use flash or global",
                                  kind));
    if (flash > 0 && flash < static_cast<std::int64_t>(kinds.size()))
        job.note(from, fmt::format("{} of {} layers have flash attention; all are planned with it",
                                   flash, kinds.size()));
    if (flash > 0) settle(job, "use_flash_attn", "true", from);
}

void settle_neox_network(Reading& job) {
    Settings& in = job.in;
    for (const char* name :
         {"gpt_j_residual", "use_bias_in_attn_linear", "activation", "norm", "pos_emb"})
        in.find(name);  // which finish_neox_network() reads
    settle_neox_attention(job, in.whole("num_layers", 1, 10'000).value_or(0));
    if (!job.mistakes().empty()) return;
    settle_word(job, "norm", "layernorm", "normalization", kNeoxNorms, "norms of the kind");
    settle_word(job, "pos_emb", "learned", "position_embedding_type", kNeoxPositions,
                "positions of the kind");
    const NeoxActivation* const activation = neox_activation(job);
    if (activation == nullptr)
        return job.refuse_network(
            *in.find("activation"),
            fmt::format("the activation '{}' is not supported; use gelu, relu, geglu or swiglu",
                        in.word("activation").value_or("")));
    if (activation->gated) {
        const Setting from = *in.find("activation");
        settle(job, activation->word == "swiglu" ? "swiglu" : "gated_linear_unit", "true", from);
        if (activation->word == "geglu") settle(job, "activation_func", "gelu", from);
    }
    settle_width(job, activation->gated);
    const bool rms = in.word("normalization") == "RMSNorm";
    const char* const name = rms ? "rms_norm_epsilon" : "layernorm_epsilon";
    const double eps = in.real(name).value_or(rms ? 1e-8 : 1e-5);
    const Setting* const from = in.find(in.has(name) ? name : "hidden_size");
    if (from != nullptr) {
        const Setting base = *from;
        settle(job, "norm_epsilon", fmt::format("{}", eps), base);
    }
}

void finish_neox_network(Reading& job) {
    Settings& in = job.in;
    if (const NeoxActivation* const activation = neox_activation(job)) {
        const bool fused = in.is_on("bias_gelu_fusion") && activation->word == "gelu";
        job.set("model.activation", fused ? "gelu_tanh" : std::string(activation->plan),
                in.find(fused ? "bias_gelu_fusion" : "activation"));
    }
    if (in.is_on("gpt_j_residual")) set_parallel_residual(job);
    const bool attention = in.flag("use_bias_in_attn_linear").value_or(true);
    if (attention != in.flag("bias_linear").value_or(true))
        for (const char* key : {"model.qkv_bias", "model.output_bias"})
            job.set(key, attention, in.find("use_bias_in_attn_linear"));
}

}  // namespace debubble::jobs
