#pragma once

#include "models/graph/graph.h"

namespace debubble::models {

/// PyTorch's selective checkpointing per operator, as torchtitan sets it (b5bcd76,
/// torchtitan/models/llama3/parallelize_llama.py, `selective_ac_option: op`): in every layer the
/// results of attention, of reduce-scatters and of every second GEMM in their order are kept, and
/// all else runs again. A product of several weights counts as one for each of them.
///
/// Gives the operators that run again their Operator::again, and adds the parts of their results
/// that are kept all the same.
void select_products(StageGraph& graph);

}  // namespace debubble::models
