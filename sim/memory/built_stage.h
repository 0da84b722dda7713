#pragma once

#include <array>
#include <cstddef>
#include <memory>
#include <mutex>
#include <utility>

#include "models/graph/graph.h"
#include "models/graph/operator_runs.h"
#include "schedule/action.h"

/// The graph of a stage with the steps of its passes, which does not depend on how many replicas
/// share the stage, on what is sharded between them, or on the order of the schedule.
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
    /// Those of one pass. `split`: whether the backward is; decides nothing for a backward.
    const models::PassSteps& steps(Pass pass, bool split) const {
        switch (pass) {
            case Pass::Forward: return steps(split)[0];
            case Pass::Backward: return steps(false)[1];
            case Pass::BackwardInput: return steps(true)[1];
            case Pass::BackwardWeight: break;
        }
        return steps(true)[2];
    }

private:
    struct Known {
        std::once_flag once;
        Steps steps;
    };

    models::StageGraph graph_;
    mutable std::array<Known, 2> steps_;
};

/// models::build_stage(). Plans of one process that have the same stage share it: the latest are
/// kept. Thread-safe.
std::shared_ptr<const BuiltStage> built_stage(
    const std::shared_ptr<const models::Architecture>& model, const models::Execution& execution,
    const models::StageContent& content, models::ExpertParameters experts);

}  // namespace debubble::sim
