#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "models/graph/graph.h"
#include "scenarios/software/framework.h"
#include "sim/cost/passes/pass_time.h"
#include "sim/memory/layer_fold.h"

/// A forward and a backward of two microbatches whose layers run side by side, as Megatron-Core's
/// combined 1F1B runs them (Megatron-LM d98e8a6, core/models/common/model_chunk_schedule_plan.py):
/// a stream computes, another exchanges tokens between experts.
namespace debubble::sim {

/// The parts of one layer in seconds, which run in this order forward and in the other backward. A
/// layer without experts exchanges nothing.
struct OfLayer {
    double attention = 0;          ///< with norms, shared experts, router and permutation
    double dispatch = 0;           ///< exchange
    double mlp = 0;                ///< experts, or a dense MLP
    double combine = 0;            ///< exchange, with what follows it
    double attention_weights = 0;  ///< weight gradients that are delayed; 0 if they are in the rest
    double mlp_weights = 0;
};
/// On the device, and on the host that issues them.
struct LayerParts : OfLayer {
    OfLayer host = {};
    double after_combine = 0;  ///< of the host's time for the combine, after the exchange's kernel
    OfLayer products = {};     ///< of it on the device, products and attention
    OfLayer exposed = {};      ///< of it on the device, communication during which no kernel runs
};
inline double sum_of(const OfLayer& layer) {
    return layer.attention + layer.dispatch + layer.mlp + layer.combine + layer.attention_weights +
           layer.mlp_weights;
}

/// Embedding, head and loss in seconds: they run before the layers of their pass or after them,
/// beside nothing.
struct OutsideParts {
    double before = 0;
    double after = 0;
};

/// The layers of a stage, and the rest of it.
struct PairParts {
    std::vector<LayerParts> forward;   ///< layers in the order of the stage
    std::vector<LayerParts> backward;  ///< the same layers
    OutsideParts forward_outside = {};
    OutsideParts backward_outside = {};
};

/// What the backward of a pair has of its weight gradients.
enum class PairWeights : std::uint8_t {
    Inside,   ///< beside the gradients of inputs
    Delayed,  ///< apart in the pair (Megatron-Core's delay_wgrad_compute)
    After,    ///< none: it is a backward-input, and they are a pass of their own
};

/// How long exchanges wait for other ranks is
/// left to the lanes (pair_lanes.h).
PairParts pair_parts(const models::StageGraph& graph, const PassPricer& pricer,
                     const scenarios::Framework& framework, LayerFold fold, PairWeights weights);

/// Seconds of the layers: the forward's layer i beside the backward's i-th from its end, and what
/// is left of the longer one alone. Within a layer: combine and MLP backward, attention forward,
/// ... in Megatron-Core's order of issue, each stream in that order, each microbatch one part after
/// another, and delayed weight gradients by no event.
double pair_seconds(const std::vector<LayerParts>& forward,
                    const std::vector<LayerParts>& backward);

}  // namespace debubble::sim
