#include "sim/report/reference/model_table.h"

#include <algorithm>
#include <variant>

#include <fmt/format.h>

namespace debubble::sim {
namespace {

std::string words_of(const models::DenseMlp& mlp) {
    return fmt::format("ffn {}", mlp.ffn);
}
std::string words_of(const models::Experts& experts) {
    return fmt::format("{} experts of {}, {} for each token{}", experts.count, experts.ffn,
                       experts.per_token,
                       experts.shared_ffn
                           ? fmt::format(" and a shared one of {}", *experts.shared_ffn)
                           : "") +
           (experts.beside_ffn ? fmt::format(" with an MLP of {} in parallel", *experts.beside_ffn)
                               : "") +
           (experts.latent ? fmt::format(", which read {} columns", *experts.latent) : "") +
           (experts.hashed ? ", by a table of tokens" : "");
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
    if (!attention.latent && attention.value_dim != attention.head_dim)
        text += fmt::format(", values of {}", attention.value_dim);
    if (attention.latent)
        text += fmt::format(" from a latent value of {}, values of {}", attention.latent->key_rank,
                            attention.value_dim);
    if (attention.chunk) text += fmt::format(", chunks of {}", *attention.chunk);
    if (attention.sinks) text += ", sinks";
    if (attention.output_gate) text += ", gated";
    if (attention.head_gate) text += ", a gate per head";
    if (attention.keys_are_values) text += ", keys as values";
    if (attention.window) text += fmt::format(", window {}", *attention.window);
    if (attention.sparse)
        text +=
            fmt::format(", {} keys {}", attention.sparse->keys,
                        attention.sparse->indexer ? "chosen by an indexer" : "of the last choice");
    if (attention.compressed && attention.compressed->ratio)
        text += fmt::format(" and {} entries of {} tokens",
                            attention.compressed->chosen
                                ? fmt::format("{} chosen", *attention.compressed->chosen)
                                : "all",
                            *attention.compressed->ratio);
    return text;
}

std::string words_of(const models::Mamba& mamba) {
    if (mamba.step_rank)
        return fmt::format("Mamba-1 with {} columns of {} states, steps from {}", mamba.inner(),
                           mamba.state, *mamba.step_rank);
    return fmt::format("Mamba-2 with {} heads of {} and {} states in {} groups", mamba.heads,
                       mamba.head_dim, mamba.state, mamba.groups);
}
std::string beside_words(const models::Layer& layer) {
    return layer.beside ? " beside " + words_of(*layer.beside) : "";
}
std::string words_of(const models::DeltaNet& net) {
    if (net.fixed_decay)
        return fmt::format("Lightning attention with {} heads of {}", net.value_heads,
                           net.value_dim);
    if (net.channel_decay)
        return fmt::format("Kimi Delta Attention with {} heads of {}", net.value_heads,
                           net.value_dim);
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

namespace {

/// "A", ..., "Z", "A1", ...
std::string letter_of(std::size_t kind) {
    const std::string letter(1, static_cast<char>('A' + kind % 26));
    return kind < 26 ? letter : fmt::format("{}{}", letter, kind / 26);
}

/// Runs of a list: a letter, or a pattern that comes several times.
std::string runs_text(const std::vector<std::size_t>& kinds) {
    constexpr std::size_t kLongestPattern = 16;
    std::string text;
    for (std::size_t at = 0; at < kinds.size();) {
        std::size_t best_length = 1;
        std::size_t best_times = 1;
        for (std::size_t length = 1; length <= kLongestPattern; ++length) {
            std::size_t times = 1;
            while (at + (times + 1) * length <= kinds.size() &&
                   std::equal(kinds.begin() + static_cast<std::ptrdiff_t>(at),
                              kinds.begin() + static_cast<std::ptrdiff_t>(at + length),
                              kinds.begin() + static_cast<std::ptrdiff_t>(at + times * length)))
                ++times;
            if (times > 1 && times * length > best_times * best_length) {
                best_times = times;
                best_length = length;
            }
        }
        const std::vector<std::size_t> pattern(
            kinds.begin() + static_cast<std::ptrdiff_t>(at),
            kinds.begin() + static_cast<std::ptrdiff_t>(at + best_length));
        std::string one =
            best_length == 1 ? letter_of(pattern.front()) : fmt::format("({})", runs_text(pattern));
        if (best_times > 1) one = fmt::format("{} {}", best_times, one);
        text += (text.empty() ? "" : ", ") + one;
        at += best_times * best_length;
    }
    return text;
}

}  // namespace

std::string layer_order(const models::Architecture& a) {
    std::vector<std::size_t> kinds;
    for (int layer = 0; layer < a.layers.count(); ++layer) kinds.push_back(a.layers.kind_of(layer));
    return runs_text(kinds);
}

std::vector<LayerKind> layer_kinds(const models::Architecture& a) {
    const auto words = [](const auto& part) { return words_of(part); };
    std::vector<LayerKind> kinds;
    for (const models::Layer& kind : a.layers.kinds())
        kinds.push_back({{},
                         fmt::format("{}{}, {}", std::visit(words, kind.mixer), beside_words(kind),
                                     std::visit(words, kind.mlp))});
    for (int layer = 0; layer < a.layers.count(); ++layer)
        kinds[a.layers.kind_of(layer)].layers.push_back(layer);
    return kinds;
}

}  // namespace debubble::sim
