#include "models/weight_format.h"

namespace debubble::models {

WeightFormat weight_format(Family family) {
    switch (family) {
        case Family::Gpt2: return {.transposed = true, .packed_qkv = true};
        case Family::Llama: return {.experts = true};
        case Family::Vit: return {.patches = true};
    }
    return {};
}

std::vector<FormatMistake> format_mistakes(const Architecture& a) {
    const WeightFormat format = weight_format(a.family);
    std::vector<FormatMistake> mistakes;
    if (format.packed_qkv && a.kv_heads != a.heads)
        mistakes.push_back(
            {"kv_heads",
             "the packed c_attn of a GPT-2 layout cannot hold grouped key-value heads"});
    if (a.experts > 0 && (!format.experts || a.linear_bias))
        mistakes.push_back({"experts", "experts are those of a llama, without biases"});
    if (a.experts > 0 && !a.sharding.empty())
        mistakes.push_back({"sharding", "a sharding table and experts are not supported together"});
    return mistakes;
}

}  // namespace debubble::models
