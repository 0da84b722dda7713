#include "models/network/weight_format.h"

#include <algorithm>

namespace debubble::models {

WeightFormat weight_format(Family family) {
    switch (family) {
        case Family::Gpt2: return {.transposed = true, .packed_qkv = true};
        case Family::GptNeox:
        case Family::Mpt: return {.packed_qkv = true, .later = true};
        case Family::Phi3: return {.later = true};
        case Family::Llama: return {.experts = true, .later = true};
        case Family::GptOss:
        case Family::Llama4:
        case Family::Deepseek: return {.experts = true, .modern = true, .later = true};
        case Family::Qwen3Next:
            return {.experts = true, .modern = true, .later = true, .delta_nets = true};
        case Family::NemotronH:
            return {
                .experts = true, .modern = true, .later = true, .mamba = true, .one_part = true};
        case Family::Planned:
            return {.experts = true,
                    .modern = true,
                    .later = true,
                    .mamba = true,
                    .delta_nets = true,
                    .planned = true};
        case Family::Vit: return {.patches = true};
    }
    return {};
}

namespace {

/// Of parts of layers that only one family's checkpoints have names for.
void add_hybrid_mistakes(const Architecture& a, const WeightFormat& format,
                         std::vector<FormatMistake>& mistakes) {
    if (!format.mamba && a.layers.first<Mamba>() != nullptr)
        mistakes.push_back({"mixer", "state-space layers need the family nemotron_h"});
    if (!format.delta_nets && a.layers.first<DeltaNet>() != nullptr)
        mistakes.push_back({"mixer", "gated delta nets need the family qwen3_next"});
    const auto gates = [](const Attention& attention) { return attention.output_gate; };
    if (!format.delta_nets && a.layers.most<Attention>(gates) > 0)
        mistakes.push_back({"output_gate", "an output gate needs the family qwen3_next"});
    const auto gates_shared = [](const Experts& experts) { return experts.shared_gate; };
    if (!format.delta_nets && a.layers.most<Experts>(gates_shared) > 0)
        mistakes.push_back({"shared_gate", "a shared-expert gate needs the family qwen3_next"});
    const auto narrows = [](const Experts& experts) { return experts.latent.has_value(); };
    if (!format.mamba && a.layers.most<Experts>(narrows) > 0)
        mistakes.push_back({"expert_latent", "latent experts need the family nemotron_h"});
    if (format.one_part)
        for (const Layer& layer : a.layers.kinds())
            if (layer.mixes() && layer.has_mlp()) {
                mistakes.push_back({"family",
                                    "each layer of the family nemotron_h must have one part: "
                                    "'mixer: none' or 'mlp: false'"});
                break;
            }
}

}  // namespace

std::vector<FormatMistake> format_mistakes(const Architecture& a) {
    const WeightFormat format = weight_format(a.family);
    std::vector<FormatMistake> mistakes;
    const auto grouped = [](const Attention& attention) {
        return attention.kv_heads != attention.heads;
    };
    if (format.packed_qkv && a.layers.most<Attention>(grouped) > 0)
        mistakes.push_back({"kv_heads",
                            "the packed queries, keys and values of a GPT-2 layout cannot hold "
                            "grouped key-value heads"});
    const auto latent = [](const Attention& attention) { return attention.latent.has_value(); };
    if (!format.modern && a.layers.most<Attention>(latent) > 0)
        mistakes.push_back({"family", "latent attention needs the family deepseek"});
    const auto later = [](const Attention& attention) {
        return attention.qk_norm != QkNorm::None || attention.sinks;
    };
    const auto elsewhere = [](const Layer& layer) {
        return layer.norms != NormPosition::Before || layer.parallel;
    };
    if (!format.later &&
        (a.layers.most<Attention>(later) > 0 || std::ranges::any_of(a.layers.kinds(), elsewhere)))
        mistakes.push_back({"family",
                            "gpt2 and vit do not have norms of queries and keys, sinks, or norms "
                            "or an MLP at other places"});
    const auto shares = [](const Experts& experts) { return experts.shared_ffn.has_value(); };
    if (!format.modern && a.layers.most<Experts>(shares) > 0)
        mistakes.push_back({"shared_ffn", "shared experts need the family deepseek"});
    add_hybrid_mistakes(a, format, mistakes);
    const auto biased = [](const Attention& attention) { return attention.qkv_bias; };
    if (a.has_experts() &&
        (!format.experts || (!format.modern && a.layers.most<Attention>(biased) > 0)))
        mistakes.push_back({"experts", "experts need the family llama and no biases"});
    if (a.has_experts() && !a.sharding.empty())
        mistakes.push_back({"sharding", "a sharding table and experts are not supported together"});
    return mistakes;
}

}  // namespace debubble::models
