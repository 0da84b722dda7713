#pragma once

#include <memory>
#include <vector>

#include "exec/core/stage/stage_runner.h"
#include "exec/core/stage/stage_tools.h"
#include "models/graph.h"

/// A stage that runs the operator graph of models/, the same that the simulator prices:
/// tensors come and go as its visits say, and collectives happen inside its operators.
namespace debubble::exec {

/// `graphs`: one for each slice of the sequence, or one for all of them; built with what
/// as_executed says of kernels and buffers.
std::unique_ptr<StageRunner> make_model_stage(std::vector<models::StageGraph> graphs,
                                              const StageTools& tools);

}  // namespace debubble::exec
