#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "models/network/architecture.h"

/// Support of networks: the families whose checkpoints store them, and parts that are only
/// simulated, in words.
namespace debubble::models {

// The properties of a family's checkpoints that limit which networks they can store. The names of
// their tensors are in layer_names.h.

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

// Names of parts of networks that are only simulated.

/// The first part of the network that is only simulated, neither executed nor written in jobs of
/// other frameworks, in words; empty if there is none.
std::string_view planned_part(const Architecture& network);

/// The effect of several residual streams and of shared key selections on a pipeline, as a sentence
/// without a full stop; empty if the network has none.
std::string stream_words(const Architecture& network);
std::string choice_words(const Architecture& network);
/// Where the network's vision tower stands and what it sees; empty if it has none.
std::string tower_words(const Architecture& network);

}  // namespace debubble::models
