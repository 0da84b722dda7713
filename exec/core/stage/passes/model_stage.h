#pragma once

#include <memory>
#include <vector>

#include "exec/core/stage/stage_runner.h"
#include "exec/core/stage/stage_tools.h"
#include "models/graph/graph.h"

/// A stage that runs the operator graph of models/, the same that the simulator prices: tensors are
/// allocated and freed as the graph's plan says, and collectives happen inside its operators.
namespace debubble::exec {

/// Makes a stage. `graphs`: one for each slice of the sequence, or one for all of them, built with
/// the kernels and buffers that executor_scenario gives.
std::unique_ptr<StageRunner> make_model_stage(std::vector<models::StageGraph> graphs,
                                              const StageTools& tools);

}  // namespace debubble::exec
