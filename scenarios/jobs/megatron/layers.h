#pragma once

#include <string>
#include <vector>

#include "scenarios/jobs/read/reading.h"

/// Layers of a Megatron network that differ from each other. Private to the folder.
namespace debubble::jobs {

/// The keys in which each layer differs from the model.
class LayerChanges {
public:
    explicit LayerChanges(std::size_t layers) : of_layer_(layers) {}
    /// Adds a key in flow YAML: "mixer: mamba".
    void add(std::size_t layer, std::string_view change);
    std::size_t count() const { return of_layer_.size(); }
    /// The value of `model.layer_groups`; empty if all layers are alike and as the model says.
    std::string groups() const;

private:
    std::vector<std::string> of_layer_;
};

/// The layers that a frequency chooses: a list of Python or YAML has 0 or 1 for each, and
/// `of_number` turns a whole number and a layer's index into the same. Nothing, with a mistake, if
/// the setting is neither or has another number of layers.
std::optional<std::vector<bool>> chosen_layers(Reading& job, const Setting& setting,
                                               std::int64_t layers,
                                               bool (*of_number)(std::int64_t number,
                                                                 std::int64_t layer));

/// Writes `model.layer_groups`: experts, attention without scores, windows and layers without
/// rotary positions of some layers, or the letters of a hybrid network.
void read_megatron_layers(Reading& job);

}  // namespace debubble::jobs
