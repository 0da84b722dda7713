#include "models/weight_format.h"

namespace debubble::models {

WeightFormat weight_format(Family family) {
    switch (family) {
        case Family::Gpt2: return {.transposed = true, .packed_qkv = true};
        case Family::Llama: return {.experts = true};
        case Family::Deepseek: return {.experts = true, .modern = true};
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
    const auto modern = [](const Attention& attention) {
        return attention.latent || attention.qk_norm != QkNorm::None;
    };
    if (!format.modern && a.layers.most<Attention>(modern) > 0)
        mistakes.push_back({"family",
                            "latent attention and norms of queries and keys are those of "
                            "the family deepseek"});
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
