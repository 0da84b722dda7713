#pragma once

#include <vector>

#include "models/graph/graph.h"

/// Tensors that a backward recomputes or fetches back: operators that run forward a second time,
/// the selection of single operators for that, and saved tensors that are offloaded to host memory.
namespace debubble::models {

// The recomputation in the backward of a stage: which operators, and when.

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

/// PyTorch's selective checkpointing per operator, as torchtitan sets it (b5bcd76,
/// torchtitan/models/llama3/parallelize_llama.py, `selective_ac_option: op`): in every layer the
/// results of attention, of reduce-scatters and of every second GEMM in their order are kept, and
/// all else runs again. A product of several weights counts as one for each of them.
///
/// Gives the operators that run again their Operator::again, and adds the parts of their results
/// that are kept all the same.
void select_products(StageGraph& graph);

// The saved tensors that are in the host's memory between the forward and the backward of a stage
// (Megatron-Core's fine-grained activation offloading, core/pipeline_parallel/
// fine_grained_activation_offload.py; TransformerEngine's cpu_offloading).

/// The tensors that one module of one layer sends away together.
struct OffloadGroup {
    std::vector<int> tensors;  ///< indices into StageGraph::tensors
    int layer = 0;
};

/// In the order of the forward. The last group of each module stays on the device and is not among
/// them, as do tensors of fewer elements than OffloadExtent::fewest_elements.
std::vector<OffloadGroup> offloads_of(const StageGraph& graph);

}  // namespace debubble::models
