#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "models/network/layer.h"

/// A network's layers in order. Each distinct kind of layer is kept once.
namespace debubble::models {

/// A network's layers in order. Each distinct kind of layer is kept once.
class Layers {
public:
    Layers() = default;
    Layers(const Layer& layer, int count) { append(layer, count); }
    void append(const Layer& layer, int count = 1);
    /// Keeps the first `count` layers; there must be as many.
    void cut_short(int count);

    int count() const { return static_cast<int>(kind_of_.size()); }
    const Layer& operator[](int layer) const { return kinds_[kind_of(layer)]; }
    std::uint16_t kind_of(int layer) const { return kind_of_[layer]; }
    /// The layer of a module that predicts a further token: one like the last; if that is a mixer
    /// or an MLP alone, with the last attention or MLP before it (Nemotron 3's "*E").
    const Layer& ahead() const { return ahead_; }
    /// The distinct kinds, in the order of their first layers.
    const std::vector<Layer>& kinds() const { return kinds_; }
    /// The number of layers of a kind.
    int count_of(std::size_t kind) const;
    /// These layers after change(Layer&).
    Layers changed(const auto& change) const {
        Layers all;
        for (const std::uint16_t kind : kind_of_) {
            Layer layer = kinds_[kind];
            change(layer);
            all.append(layer);
        }
        return all;
    }
    /// The first layer's part of a kind, in the order of layers; nullptr if no layer has one.
    template <class Kind>
    const Kind* first() const {
        for (const Layer& kind : kinds_)
            if (const Kind* part = kind.as<Kind>()) return part;
        return nullptr;
    }
    /// The greatest of value(part) over all layers with that kind of part, or `least`.
    template <class Kind>
    std::int64_t most(const auto& value, std::int64_t least = 0) const {
        for (const Layer& kind : kinds_)
            if (const Kind* part = kind.as<Kind>())
                least = std::max<std::int64_t>(least, value(*part));
        return least;
    }
    friend bool operator==(const Layers&, const Layers&) = default;

private:
    void find_ahead();

    Layer ahead_;
    std::vector<Layer> kinds_;
    std::vector<std::uint16_t> kind_of_;  ///< by layer
};

/// A run of equal layers.
struct LayerRun {
    int first = 0;
    int count = 0;
};
/// The runs of layers [first, first + count), in order.
std::vector<LayerRun> runs_of(const Layers& layers, int first, int count);

// Layers whose attention sees keys that an indexer chooses, its own or that of a layer before.

/// True for a layer that sees the keys which a layer before it has chosen.
inline bool shares_choice(const Layer& layer) {
    const auto* attention = layer.as<Attention>();
    return attention != nullptr && attention->sparse && !attention->sparse->indexer;
}

/// The last layer up to this one at which a stage can begin.
inline int beginning_at(const Layers& layers, int layer) {
    while (layer > 0 && shares_choice(layers[layer])) --layer;
    return layer;
}

}  // namespace debubble::models
