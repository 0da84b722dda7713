#pragma once

#include <memory>

#include "models/graph/graph.h"
#include "scenarios/plan/scenario.h"
#include "sim/memory/built_stage.h"
#include "sim/memory/layer_fold.h"

/// The graph of a stage as it is priced.
namespace debubble::sim {

/// A stage's graph with at most three layers of its longest run of equal ones: the middle one
/// represents all inner layers of the run. Layers after it have lower numbers than in the model.
struct FoldedStage {
    std::shared_ptr<const BuiltStage> built;
    LayerFold fold;
    const models::StageGraph& graph = built->graph();
};

/// Stages of one process that differ in nothing but the number of inner layers share a graph: the
/// latest are kept. Thread-safe.
FoldedStage folded_stage(const scenarios::Scenario& scenario, const models::StageContent& content,
                         int slice);

}  // namespace debubble::sim
