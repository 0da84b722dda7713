#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "models/network/architecture.h"

/// The properties of a family's checkpoints that limit which networks they can store. The names of
/// their tensors are in layer_names.h.
namespace debubble::models {

struct WeightFormat {
    /// A product's weight is [inputs, outputs], as in Hugging Face's Conv1D; else [outputs,
    /// inputs].
    bool transposed = false;
    bool packed_qkv = false;  ///< queries, keys and values are three equal parts of one tensor
    bool experts = false;     ///< layers may have experts and a router
    bool modern = false;      ///< latent attention, shared experts
    bool later = false;  ///< additions to dense networks after GPT-2: norms of queries and keys and
                         ///< after the parts of a layer, sinks, parallel parts
    bool mamba = false;  ///< state-space layers
    bool delta_nets = false;  ///< gated delta nets, gates of attention and of shared experts
    bool one_part = false;    ///< layers of a mixer or an MLP alone
    bool planned = false;     ///< there are none
    /// Images come in through a patch embedding; else tokens through a token embedding.
    bool patches = false;
};
WeightFormat weight_format(Family family);

struct FormatMistake {
    std::string_view key;  ///< of the architecture's map
    std::string sentence;
};
/// The reasons why the family's checkpoints cannot store this network; empty if they can.
std::vector<FormatMistake> format_mistakes(const Architecture& architecture);

}  // namespace debubble::models
