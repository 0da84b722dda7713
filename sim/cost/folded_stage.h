#pragma once

#include <array>
#include <cstddef>
#include <memory>
#include <mutex>
#include <utility>

#include "models/graph/graph.h"
#include "models/graph/operator_runs.h"
#include "scenarios/plan/scenario.h"
#include "sim/memory/layer_fold.h"

/// The graph of a stage as it is priced, which does not depend on how many replicas share it, on
/// what is sharded between them, or on the order of the schedule.
namespace debubble::sim {

/// A graph with the steps of its passes, each put together once. Thread-safe.
class BuiltStage {
public:
    using Steps = std::array<models::PassSteps, 3>;

    explicit BuiltStage(models::StageGraph graph) : graph_(std::move(graph)) {}

    const models::StageGraph& graph() const { return graph_; }
    /// models::steps_of() the graph.
    const Steps& steps(bool split) const {
        Known& known = steps_[static_cast<std::size_t>(split)];
        std::call_once(known.once, [&] { known.steps = models::steps_of(graph_, split); });
        return known.steps;
    }

private:
    struct Known {
        std::once_flag once;
        Steps steps;
    };

    models::StageGraph graph_;
    mutable std::array<Known, 2> steps_;
};

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
