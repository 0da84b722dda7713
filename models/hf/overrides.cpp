#include <fmt/format.h>

#include "models/hf/config.h"
#include "models/network/architecture_limits.h"
#include "models/read/layer_reader.h"

/// The keys of this project's model files that a map with `base: FOLDER` may set in addition to
/// those of the base's config.json.
namespace debubble::models {
namespace {

void cut_short(text::MappingReader& in, Architecture& network) {
    int layers = network.layers.count();
    if (!in.whole("layers", layers, 1, kMostLayers)) return;
    if (layers > network.layers.count())
        in.complain("layers", fmt::format("the network of 'base' has {} layers; 'layers' can only "
                                          "shorten it and cannot be {}",
                                          network.layers.count(), layers));
    else
        network.layers.cut_short(layers);
}

}  // namespace

void override_config(text::MappingReader& in, Architecture& network) {
    cut_short(in, network);
    in.whole("vocab", network.vocab, 1, kLargestVocabulary);
    in.whole("max_positions", network.max_positions, 1, kMostPositions);
    in.whole("mtp_layers", network.mtp_layers, 0, kMostMtpLayers);
    read_tower_use(in, network);
    std::int64_t kv_heads = 0;
    std::int64_t experts = 0;
    in.whole("kv_heads", kv_heads, 1, kMostHeads);
    in.whole("experts", experts, 1, kMostExperts);
    if (experts > 0 && !network.has_experts())
        in.complain("experts", "the network of 'base' has no experts");
    if (kv_heads == 0 && experts == 0) return;
    network.layers = network.layers.changed([&](Layer& layer) {
        if (auto* attention = std::get_if<Attention>(&layer.mixer); attention && kv_heads > 0)
            attention->kv_heads = kv_heads;
        if (auto* mixture = std::get_if<Experts>(&layer.mlp); mixture && experts > 0)
            mixture->count = experts;
    });
}

}  // namespace debubble::models
