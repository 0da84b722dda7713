#include "sim/report/layer_words.h"

#include <variant>

#include <fmt/format.h>

namespace debubble::sim {
namespace {

std::string words_of(const models::DenseMlp& mlp) {
    return fmt::format("ffn {}", mlp.ffn);
}
std::string words_of(const models::Experts& experts) {
    return fmt::format(
        "{} experts of {}, {} for each token{}", experts.count, experts.ffn, experts.per_token,
        experts.shared_ffn > 0 ? fmt::format(" beside a shared one of {}", experts.shared_ffn)
                               : "");
}

std::string words_of(const models::NoMlp& /*none*/) {
    return "no MLP";
}
std::string words_of(const models::NoMixer& /*none*/) {
    return "an MLP alone";
}

/// "32 heads and 8 key-value heads of 128, window 4096".
std::string words_of(const models::Attention& attention) {
    std::string text = fmt::format("{} heads", attention.heads);
    if (attention.kv_heads != attention.heads)
        text += fmt::format(" and {} key-value heads", attention.kv_heads);
    text += fmt::format(" of {}", attention.head_dim);
    if (attention.latent)
        text += fmt::format(" from a latent value of {}, values of {}", attention.latent->key_rank,
                            attention.value_dim);
    if (attention.chunk) text += fmt::format(", chunks of {}", *attention.chunk);
    if (attention.sinks) text += ", sinks";
    if (attention.output_gate) text += ", gated";
    if (attention.window) text += fmt::format(", window {}", *attention.window);
    return text;
}

std::string words_of(const models::Mamba& mamba) {
    return fmt::format("Mamba-2 with {} heads of {} and {} states in {} groups", mamba.heads,
                       mamba.head_dim, mamba.state, mamba.groups);
}
std::string words_of(const models::DeltaNet& net) {
    return fmt::format("gated delta net with {} key heads of {} and {} value heads of {}",
                       net.key_heads, net.key_dim, net.value_heads, net.value_dim);
}

}  // namespace

std::string list_of(const std::vector<int>& layers, std::string_view to) {
    constexpr int kMostRuns = 3;
    std::string text;
    int runs = 0;
    for (std::size_t i = 0, end = 0; i < layers.size(); i = end) {
        for (end = i + 1; end < layers.size() && layers[end] == layers[end - 1] + 1;) ++end;
        if (++runs > kMostRuns) return text + ", ...";
        text += fmt::format("{}{}", text.empty() ? "" : ", ", layers[i]);
        if (end - i > 1) text += fmt::format("{}{}", to, layers[end - 1]);
    }
    return text;
}

std::string LayerKind::name() const {
    const std::string listed = list_of(layers, " to ");
    return fmt::format("layer{} {}{}", layers.size() == 1 ? "" : "s", listed,
                       listed.ends_with("...") ? fmt::format(" ({} of them)", layers.size()) : "");
}

std::vector<LayerKind> layer_kinds(const models::Architecture& a) {
    const auto words = [](const auto& part) { return words_of(part); };
    std::vector<LayerKind> kinds;
    for (const models::Layer& kind : a.layers.kinds())
        kinds.push_back(
            {{},
             fmt::format("{}, {}", std::visit(words, kind.mixer), std::visit(words, kind.mlp))});
    for (int layer = 0; layer < a.layers.count(); ++layer)
        kinds[a.layers.kind_of(layer)].layers.push_back(layer);
    return kinds;
}

}  // namespace debubble::sim
