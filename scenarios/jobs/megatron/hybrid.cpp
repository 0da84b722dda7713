#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "scenarios/jobs/megatron/megatron.h"
#include "scenarios/jobs/megatron/network.h"

/// Hybrid networks of Megatron-Core: a letter a layer, M for Mamba-2, G for a gated delta net, *
/// for attention, + for latent attention, D for sparse attention, - for an MLP, E for experts
/// (core/models/hybrid/hybrid_layer_allocation.py).
namespace debubble::jobs {
namespace {

constexpr std::string_view kLetters = "MG*+D-E";

/// Python's round(): a half goes to the even number.
std::int64_t rounded(double value) {
    return static_cast<std::int64_t>(std::nearbyint(value));
}

/// The pattern of the former ratios: attention is spread evenly between Mamba layers, and MLPs
/// evenly over those that are left.
std::string letters_of_ratios(std::int64_t layers, double attention, double mlp) {
    std::string letters(layers, 'M');
    const std::int64_t scores = rounded(static_cast<double>(layers) * attention);
    const auto place = [&](char letter, double apart) {
        double left = apart;
        for (char& one : letters) {
            if (one != 'M') continue;
            if (left < 0.5) {
                one = letter;
                left += apart;
            } else {
                left -= 1;
            }
        }
    };
    place('*', static_cast<double>(layers - scores) / static_cast<double>(scores + 1));
    const std::int64_t mlps = rounded(static_cast<double>(layers) * mlp);
    if (mlps > 0)
        place('-', static_cast<double>(layers - scores - mlps) / static_cast<double>(mlps));
    return letters;
}

double ratio_of(Reading& job, const char* name) {
    return std::clamp(job.in.real(name).value_or(0), 0.0, 1.0);
}

/// The letters before the first "/", cut at "|".
void read_main(std::string_view text, HybridPattern& pattern) {
    bool cut = false;
    std::int64_t layers = 0;
    for (const char c : text) {
        if (c == '|') {
            pattern.segments.push_back(layers);
            layers = 0;
            cut = true;
        } else if (c != ' ') {
            pattern.letters += c;
            ++layers;
        }
    }
    if (cut) pattern.segments.push_back(layers);
}

void read_text(Settings& in, HybridPattern& pattern) {
    const std::string text = in.word("hybrid_layer_pattern").value_or("");
    const std::size_t slash = text.find('/');
    read_main(std::string_view(text).substr(0, slash), pattern);
    pattern.depths = slash == std::string::npos ? 0 : std::ranges::count(text, '/');
    if (pattern.depths > 0) {
        const std::string_view rest = std::string_view(text).substr(slash + 1);
        pattern.prediction = rest.substr(0, rest.find('/'));
    } else if (const auto own = in.word("mtp_hybrid_override_pattern")) {
        pattern.prediction = *own;
        pattern.depths = in.whole("mtp_num_layers", 0, 16).value_or(0);
    }
}

std::int64_t of(Settings& in, const char* name, std::int64_t otherwise) {
    return in.whole(name, 1, kMost).value_or(otherwise);
}

void read_mamba(Reading& job, const Setting* from) {
    Settings& in = job.in;
    const std::int64_t width = of(in, "mamba_head_dim", 64);
    const std::int64_t hidden = of(in, "hidden_size", 0);
    const std::int64_t heads =
        of(in, "mamba_num_heads", of(in, "mamba_expand", 2) * hidden / width);
    job.set("model.mamba",
            fmt::format("{{heads: {}, head_dim: {}, state: {}, groups: {}, convolution: {}, chunk: "
                        "{}}}",
                        heads, width, of(in, "mamba_state_dim", 128), of(in, "mamba_num_groups", 8),
                        of(in, "mamba_d_conv", 4), of(in, "mamba_chunk_size", 128)),
            from, in.has("mamba_num_heads") ? "" : "2 hidden / head_dim heads");
}

/// The keys of a letter's layer that replace the model's own.
std::string change_of(Reading& job, char letter, std::int64_t ffn, bool experts) {
    switch (letter) {
        case 'M': return "mixer: mamba, mlp: false";
        case 'G': return "mixer: delta_net, mlp: false";
        case '+': return fmt::format("mlp: false, latent_attention: {}", megatron_latent(job));
        case '-':
            return experts ? fmt::format("mixer: none, experts: 0, ffn: {}", ffn) : "mixer: none";
        case 'E': return "mixer: none";
        default: return "mlp: false";
    }
}

bool has(const HybridPattern& pattern, char letter) {
    return pattern.letters.find(letter) != std::string::npos;
}

/// Refuses letters that no key of a model says.
void check_letters(Reading& job, const HybridPattern& pattern) {
    if (pattern.from == nullptr) return;
    const Setting& from = *pattern.from;
    for (const char letter : pattern.letters)
        if (kLetters.find(letter) == std::string_view::npos)
            return job.refuse(
                from, fmt::format("'{}' is not a layer symbol; use M, G, *, +, D, - or E", letter));
    if (has(pattern, 'D'))
        job.refuse_network(from, "D is DeepSeek's sparse attention, which is not supported");
    if (has(pattern, 'M') && has(pattern, 'G'))
        job.refuse_network(from, "Mamba-2 together with gated delta nets is not supported");
    if (has(pattern, '+') && (has(pattern, 'M') || has(pattern, 'G')))
        job.refuse_network(from,
                           "latent attention together with Mamba-2 or delta nets is not supported");
    if (has(pattern, 'E') && job.in.whole("num_experts", 0, 4096).value_or(0) == 0)
        job.refuse(from, "E is a layer of experts, but --num-experts is absent");
}

void read_prediction(Reading& job, const HybridPattern& pattern) {
    if (pattern.depths == 0 || pattern.letters.empty()) return;
    const Setting* from = pattern.from;
    if (from == nullptr) from = job.in.find("mtp_hybrid_override_pattern");
    if (pattern.prediction == std::string(1, pattern.letters.back()))
        job.set("model.mtp_layers", pattern.depths, from);
    else if (from != nullptr)
        job.refuse_network(*from,
                           fmt::format("a multi-token prediction depth has the layers '{}', but "
                                       "only one like the network's last layer, '{}', is supported",
                                       pattern.prediction, pattern.letters.back()));
}

}  // namespace

HybridPattern hybrid_pattern(Reading& job) {
    Settings& in = job.in;
    HybridPattern pattern;
    if ((pattern.from = in.find("hybrid_layer_pattern")) != nullptr) {
        read_text(in, pattern);
    } else {
        pattern.letters = letters_of_ratios(in.whole("num_layers", 1, 10'000).value_or(0),
                                            ratio_of(job, "hybrid_attention_ratio"),
                                            ratio_of(job, "hybrid_mlp_ratio"));
    }
    return pattern;
}

std::string hybrid_family(Reading& job) {
    return has(hybrid_pattern(job), 'G') ? "qwen3_next" : "nemotron_h";
}

void read_hybrid_layers(Reading& job) {
    Settings& in = job.in;
    const HybridPattern pattern = hybrid_pattern(job);
    check_letters(job, pattern);
    const Setting* from = pattern.from;
    for (const char* name : {"hybrid_attention_ratio", "spec", "model_type", "is_hybrid_model"})
        if (from == nullptr) from = in.find(name);
    const bool experts = in.whole("num_experts", 0, 4096).value_or(0) > 0;
    const std::int64_t ffn = of(in, "ffn_hidden_size", 4 * of(in, "hidden_size", 0));
    LayerChanges changes(pattern.letters.size());
    for (std::size_t i = 0; i < pattern.letters.size(); ++i)
        changes.add(i, change_of(job, pattern.letters[i], ffn, experts));
    if (has(pattern, 'M')) read_mamba(job, from);
    if (has(pattern, 'G')) read_delta_net(job);
    if (const std::string groups = changes.groups(); !groups.empty())
        job.set("model.layer_groups", groups, from);
    read_prediction(job, pattern);
}

}  // namespace debubble::jobs
