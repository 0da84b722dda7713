#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "models/graph/graph.h"
#include "scenarios/software/framework.h"
#include "sim/cost/passes/pass_time.h"
#include "sim/memory/layer_fold.h"

/// A forward and a backward of two microbatches whose layers overlap, as in Megatron-Core's
/// combined 1F1B (Megatron-LM d98e8a6, core/models/common/model_chunk_schedule_plan.py): one stream
/// computes, another carries the all-to-alls of experts.
namespace debubble::sim {

/// The parts of one layer in seconds, in the order of a forward; a backward reverses it. A layer
/// without experts has no all-to-all.
struct OfLayer {
    double attention = 0;          ///< with norms, shared experts, router and permutation
    double dispatch = 0;           ///< all-to-all
    double mlp = 0;                ///< experts, or a dense MLP
    double combine = 0;            ///< all-to-all, and the work after it
    double attention_weights = 0;  ///< delayed weight gradients; 0 if they are in the other parts
    double mlp_weights = 0;
};
/// On the device, and on the host that issues them.
struct LayerParts : OfLayer {
    OfLayer host = {};
    double after_combine = 0;  ///< host time of the combine after its kernel
    OfLayer products = {};     ///< device time of GEMMs and attention
    OfLayer exposed = {};      ///< device time of communication without a kernel
};
inline double sum_of(const OfLayer& layer) {
    return layer.attention + layer.dispatch + layer.mlp + layer.combine + layer.attention_weights +
           layer.mlp_weights;
}

/// Embedding, head and loss in seconds: they run before the layers of their pass or after them, and
/// overlap nothing.
struct OutsideParts {
    double before = 0;
    double after = 0;
};

/// The layers of a stage, and its other parts.
struct PairParts {
    std::vector<LayerParts> forward;   ///< layers in the order of the stage
    std::vector<LayerParts> backward;  ///< the same layers
    OutsideParts forward_outside = {};
    OutsideParts backward_outside = {};
};

/// Where a pair's backward computes its weight gradients.
enum class PairWeights : std::uint8_t {
    Inside,   ///< with the gradients of inputs
    Delayed,  ///< separately in the pair (Megatron-Core's delay_wgrad_compute)
    After,    ///< not at all: it is a backward-input, and they are a pass of their own
};

/// The waits of all-to-alls for other ranks are added by the lanes (pair_time.h).
PairParts pair_parts(const models::StageGraph& graph, const PassPricer& pricer,
                     const scenarios::Framework& framework, LayerFold fold, PairWeights weights);

/// Seconds of the layers: the forward's layer i overlaps the backward's i-th from its end, and the
/// rest of the longer one runs alone. Within a layer: combine and MLP backward, attention forward,
/// ... in Megatron-Core's order of issue, each stream in that order, each microbatch one part after
/// another; delayed weight gradients wait for no event.
double pair_seconds(const std::vector<LayerParts>& forward,
                    const std::vector<LayerParts>& backward);

}  // namespace debubble::sim
