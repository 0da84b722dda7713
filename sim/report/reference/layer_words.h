#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "models/network/architecture.h"

/// A network's layers in words.
namespace debubble::sim {

/// Layers with the same description.
struct LayerKind {
    std::vector<int> layers;  ///< in order
    std::string words;        ///< "16 heads of 128, ffn 10944"

    std::string name() const;  ///< "layers 0 to 2"
};
/// The kinds of a network's layers, in the order of their first layers.
std::vector<LayerKind> layer_kinds(const models::Architecture& architecture);

/// The order of the layers, with a letter for each of those kinds and counts of repetitions: "12 (3
/// A, B)".
std::string layer_order(const models::Architecture& architecture);
/// "0 to 2, 4, 6 to 9", with `to` between the ends of a run; of many runs the first three.
std::string list_of(const std::vector<int>& layers, std::string_view to);

}  // namespace debubble::sim
