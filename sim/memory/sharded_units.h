#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "base/memory_class.h"
#include "models/graph.h"
#include "scenarios/scenario.h"
#include "schedule/action.h"
#include "schedule/placement.h"

/// What passes gather and reduce over data-parallel ranks while they run, layer by layer.
///
/// ZeRO-3 with `wrap: layer` gathers parameters inside the passes (FSDP): those of the next layer
/// beside the layer that computes; embedding and head are the root unit, gathered for the
/// whole pass. A backward also reduces each layer's gradients, on the same communication stream.
///
/// Under ZeRO-2, and ZeRO-3 by stage, the backward that a ReduceGrad follows begins the reductions
/// layer by layer as well. Whole gradients exist of the layer that computes and of the one before
/// it, whose reduction runs beside. Where several ranks hold a stage (Chimera, DualPipe) their
/// passes do not come in step: whole gradients wait for the reduction behind the pass. So do the
/// head's, where a chunked loss makes them in a backward-input.
namespace debubble::sim {

/// Elements that a rank has of a stage whole.
struct ShardedUnits {
    int layers = 0;
    std::int64_t layer = 0;      ///< of each
    std::int64_t embedding = 0;  ///< but a tied one
    std::int64_t head = 0;       ///< with the final norm, but a tied one
    std::int64_t tied = 0;       ///< of a token embedding that is the head, too, or of its copy
    bool has_embedding = false;
    bool has_head = false;
    bool chunked_loss = false;  ///< which makes the gradients of the head, too
    std::int64_t root() const { return embedding + head + tied; }
};

/// Of a stage with so many layers, of which the graph has one for all, or all.
ShardedUnits sharded_units(const models::StageGraph& graph, int layers);

/// The part of them whose gradients a backward completes at its end: what the embedding has, or
/// the first layer.
double part_that_comes_last(const ShardedUnits& units);

/// What a pass does with a stage's parameters.
struct PassUse {
    bool reads_parameters = true;
    bool makes_gradients = false;
    bool is_backward_input = false;
    bool several_holders = false;  ///< of the stage
};
PassUse use_of(Pass pass, bool several_holders);
/// Are any two ranks, beside those that share data, holders of one stage?
bool has_several_holders(const Placement& placement);

/// Where a pass is: in embedding or head before its layers, in a layer, or behind them.
enum class PassPlace : std::uint8_t { Before, First, Inner, Last, Behind };
/// What is gathered, and not yet reduced, by place.
using HeldBeside = std::array<MemoryByClass, 5>;
HeldBeside held_beside(const scenarios::Scenario& scenario, const ShardedUnits& units, PassUse use);

/// What a backward of whatever kind leaves that is not reduced, until the stage's next one begins
/// or the step ends.
MemoryByClass left_unreduced(const scenarios::Scenario& scenario, const ShardedUnits& units,
                             PassUse use);

/// Of every step of a pass, where it is: a step belongs to the next kernel.
std::vector<PassPlace> places_of(const models::PassSteps& pass);

}  // namespace debubble::sim
