#pragma once

#include <vector>

#include "models/graph/graph.h"

/// The recomputation in the backward of a stage: which operators, and when.
namespace debubble::models {

/// Operators that run again one after the other. A checkpoint keeps what goes into it, and what it
/// gives where something else keeps that. An output that is discarded is freed when its readers
/// have run forward, and is made again for the first of them that runs backward (Megatron-Core's
/// CheckpointWithoutOutput).
struct Replay {
    std::vector<int> operators;  ///< indices into StageGraph::operators, in forward order
    bool discards = false;
};

/// The replays of each operator, which come right before its backward: element i is those of
/// operator i, in the order in which they run.
std::vector<std::vector<Replay>> replays_of(const StageGraph& graph);

/// How often each operator runs again in a backward.
std::vector<int> times_again(const StageGraph& graph);

/// True if an operator that makes the tensor runs again in a backward.
bool is_made_again(const StageGraph& graph, int tensor);

/// True if the module's outputs are discarded rather than checkpointed.
bool discards_output(Module module);

/// The number of layers of the stage before the one of that number; for one of multi-token
/// prediction, all.
int layers_before(const StageGraph& graph, int layer);

}  // namespace debubble::models
