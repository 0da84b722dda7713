#pragma once

#include <string>
#include <vector>

#include "scenarios/jobs/read/reading.h"

/// The kind of network that a Megatron job trains, and its layers where they differ. Private to the
/// folder.
namespace debubble::jobs {

/// Refuses what makes a network that is not planned: programs, builders of layers (--spec), kinds
/// of attention and of embeddings. Settings that follow from others (the layers of a pattern) are
/// added to the job. Called before anything else is read of the network.
void read_megatron_network(Reading& job);

/// The experts of each layer that has some, where Megatron-DeepSpeed's --num-experts lists them.
inline constexpr const char* kExpertsOfLayers = "$experts_of_layers";

/// Writes that norms stand after attention and MLP too, as slime's Megatron has them.
void read_norm_positions(Reading& job);

/// True for Megatron-DeepSpeed, whose flags of experts are others.
bool is_megatron_deepspeed(Settings& in);

/// True if queries and keys are normed over all heads together, by a --spec.
bool has_wide_norms(Reading& job);

/// True if layers are gated delta nets, by --experimental-attention-variant or by a --spec.
bool has_delta_nets(Reading& job);
/// Writes `model.delta_net` from the flags --linear-*; asks for what only a checkpoint knows.
void read_delta_net(Reading& job);

/// The tokens that a token sees, itself among them, by --window-size; unset: all before it.
std::optional<std::int64_t> megatron_window(Reading& job);

/// Layers of one part, each named by a letter: Megatron-Core's HybridModel.
struct HybridPattern {
    std::string letters;                 ///< of the network's layers, without separators
    std::vector<std::int64_t> segments;  ///< layers of each stage, if the pattern has separators
    std::string prediction;              ///< letters of one depth of multi-token prediction
    std::int64_t depths = 0;
    const Setting* from = nullptr;  ///< null: made of ratios, or of their absence
};

/// True for a HybridModel: a pattern, or a program, `model_type` or --spec of networks with Mamba.
bool is_hybrid(Reading& job);
HybridPattern hybrid_pattern(Reading& job);
/// Writes the layers that the pattern's letters name, and their sizes.
void read_hybrid_layers(Reading& job);
/// The family whose checkpoints have such layers.
std::string hybrid_family(Reading& job);

// Layers of a Megatron network that differ from each other.

/// The keys in which each layer differs from the model.
class LayerChanges {
public:
    explicit LayerChanges(std::size_t layers) : of_layer_(layers) {}
    /// Adds a key in flow YAML: "mixer: mamba".
    void add(std::size_t layer, std::string_view change);
    std::size_t count() const { return of_layer_.size(); }
    /// The value of `model.layer_groups`; empty if all layers are identical to the model's.
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
