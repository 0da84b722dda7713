#include "models/network/weight_format.h"

#include <algorithm>
#include <ranges>

#include <fmt/format.h>

namespace debubble::models {

namespace {

std::string_view part_of_attention(const Attention& attention) {
    if (attention.compressed) return "attention over compressed keys";
    if (attention.sparse) return "attention over keys selected by an indexer";
    if (attention.head_gate) return "attention with a gate on each head";
    if (attention.keys_are_values) return "shared keys and values";
    if (attention.value_norm) return "norms of values";
    if (attention.latent && attention.output_gate) return "latent attention with an output gate";
    if (!attention.latent && attention.value_dim != attention.head_dim)
        return "values narrower than keys";
    return {};
}

std::string_view part_of_experts(const Experts& experts) {
    if (experts.beside_ffn) return "experts with a parallel dense MLP";
    if (experts.hashed) return "routers that use a token table";
    if (experts.latent_norm) return "a norm of the output of latent experts";
    if (experts.router == Router::SqrtSoftplus) return "routers with sqrtsoftplus scores";
    return {};
}

std::string_view part_of_layer(const Layer& layer) {
    std::string_view part;
    if (layer.beside) return "state-space parts parallel to attention";
    if (layer.one_norm) return "attention and MLPs that share one norm";
    if (const auto* mamba = layer.as<Mamba>(); mamba != nullptr && mamba->step_rank)
        return "Mamba-1 layers";
    if (const auto* mamba = layer.as<Mamba>(); mamba != nullptr && !mamba->norm)
        return "state-space layers without a norm";
    if (const auto* attention = layer.as<Attention>()) part = part_of_attention(*attention);
    if (const auto* net = layer.as<DeltaNet>(); net != nullptr && net->channel_decay)
        part = "Kimi Delta Attention";
    if (const auto* net = layer.as<DeltaNet>(); net != nullptr && net->fixed_decay)
        part = "Lightning attention";
    if (const auto* experts = layer.as<Experts>(); part.empty() && experts != nullptr)
        part = part_of_experts(*experts);
    if (!part.empty()) return part;
    const auto* mlp = layer.as<DenseMlp>();
    const Activation activation = mlp != nullptr ? mlp->activation : Activation::Swiglu;
    return activation == Activation::Xielu || activation == Activation::Situ
               ? "an activation without a kernel"
               : "";
}

}  // namespace

std::string_view planned_part(const Architecture& network) {
    if (network.tower) return "a vision tower ('language_model_only: true' leaves it out)";
    if (network.streams > 1) return "several residual streams";
    if (network.residual_block) return "stored residual sums";
    for (const Layer& layer : network.layers.kinds())
        if (const std::string_view part = part_of_layer(layer); !part.empty()) return part;
    return network.family == Family::Planned ? "weights of the simulation-only family 'planned'"
                                             : "";
}

std::string stream_words(const Architecture& a) {
    if (a.streams > 1)
        return fmt::format(
            "each token has {} residual streams: each stage but the last sends {} times the hidden "
            "width",
            a.streams, a.streams);
    if (a.residual_block)
        return fmt::format(
            "the residual sum is stored every {} layers: a stage sends up to {} times the hidden "
            "size, growing with its position",
            *a.residual_block, a.stream_rows(a.layers.count()));
    return {};
}

namespace {

/// Layers whose experts a table of tokens chooses.
std::string table_words(const Architecture& a) {
    const std::int64_t hashed =
        std::ranges::count_if(std::views::iota(0, a.layers.count()), [&](int layer) {
            const auto* experts = a.layers[layer].as<Experts>();
            return experts != nullptr && experts->hashed;
        });
    if (hashed == 0) return {};
    return fmt::format(
        "the experts of {} layers follow from token ids, which only the first stage has: "
        "frameworks keep these layers there",
        hashed);
}

}  // namespace

std::string choice_words(const Architecture& a) {
    if (std::string table = table_words(a); !table.empty()) return table;
    const auto shares = [](const Attention& attention) {
        return attention.sparse && !attention.sparse->indexer ? 1 : 0;
    };
    if (a.layers.most<Attention>(shares) == 0) return {};
    return "layers that share selected keys must be in one stage with the layer that selects them: "
           "stages begin at layers with their own selection";
}

std::string tower_words(const Architecture& a) {
    if (!a.tower) return {};
    const VisionTower& tower = *a.tower;
    const auto number_of = [](std::int64_t count, std::string_view what) {
        return fmt::format("{} {}{}", count, what, count == 1 ? "" : "s");
    };
    std::string text = fmt::format(
        "the vision tower of {} with hidden size {} is in the first stage: a sample has {} of {} "
        "each, which take {} tokens of its sequence (set by the model's 'images' and "
        "'image_tokens')",
        number_of(tower.layers.count(), "layer"), tower.hidden, number_of(tower.images, "image"),
        fmt::format("{} patches", tower.patches()), tower.tokens_of_sample());
    if (!tower.deepstack.empty())
        text += fmt::format("; its features are added after the first {}",
                            number_of(static_cast<std::int64_t>(tower.deepstack.size()), "layer"));
    if (tower.frozen && tower.frozen_projector) return text + "; it is not trained";
    if (tower.frozen) return text + "; only its projector is trained";
    return text;
}

}  // namespace debubble::models
