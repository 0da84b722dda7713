#include "models/weight_format.h"

#include <algorithm>

namespace debubble::models {

WeightFormat weight_format(Family family) {
    switch (family) {
        case Family::Gpt2: return {.transposed = true, .packed_qkv = true};
        case Family::Llama: return {.experts = true, .later = true};
        case Family::Deepseek: return {.experts = true, .modern = true, .later = true};
        case Family::Vit: return {.patches = true};
    }
    return {};
}

std::vector<FormatMistake> format_mistakes(const Architecture& a) {
    const WeightFormat format = weight_format(a.family);
    std::vector<FormatMistake> mistakes;
    const auto grouped = [](const Attention& attention) {
        return attention.kv_heads != attention.heads;
    };
    if (format.packed_qkv && a.layers.most<Attention>(grouped) > 0)
        mistakes.push_back(
            {"kv_heads",
             "the packed c_attn of a GPT-2 layout cannot hold grouped key-value heads"});
    const auto latent = [](const Attention& attention) { return attention.latent.has_value(); };
    if (!format.modern && a.layers.most<Attention>(latent) > 0)
        mistakes.push_back({"family", "latent attention is that of the family deepseek"});
    const auto later = [](const Attention& attention) {
        return attention.qk_norm != QkNorm::None || attention.sinks;
    };
    const auto elsewhere = [](const Layer& layer) {
        return layer.norms != NormPosition::Before || layer.parallel;
    };
    if (!format.later &&
        (a.layers.most<Attention>(later) > 0 || std::ranges::any_of(a.layers.kinds(), elsewhere)))
        mistakes.push_back({"family",
                            "norms of queries and keys, sinks, and norms or an MLP at other places "
                            "are not those of a gpt2 or vit"});
    const auto shares = [](const Experts& experts) { return experts.shared_ffn; };
    if (!format.modern && a.layers.most<Experts>(shares) > 0)
        mistakes.push_back({"shared_ffn", "shared experts are those of the family deepseek"});
    const auto biased = [](const Attention& attention) { return attention.qkv_bias; };
    if (a.has_experts() &&
        (!format.experts || (!format.modern && a.layers.most<Attention>(biased) > 0)))
        mistakes.push_back({"experts", "experts are those of a llama, without biases"});
    if (a.has_experts() && !a.sharding.empty())
        mistakes.push_back({"sharding", "a sharding table and experts are not supported together"});
    return mistakes;
}

}  // namespace debubble::models
