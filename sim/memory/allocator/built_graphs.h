#pragma once

#include <array>
#include <cstddef>
#include <memory>
#include <mutex>
#include <utility>

#include "models/graph/graph.h"
#include "schedule/action.h"

namespace debubble::sim {

/// The graph of a stage with all its layers, and the steps of its passes. Thread-safe.
class BuiltStage {
public:
    explicit BuiltStage(models::StageGraph graph) : graph_(std::move(graph)) {}

    const models::StageGraph& graph() const { return graph_; }
    /// Planned when they are first asked for.
    const models::PassSteps& steps(Pass pass) const;

private:
    static constexpr std::size_t kPasses = 4;

    models::StageGraph graph_;
    mutable std::array<std::once_flag, kPasses> planned_;
    mutable std::array<models::PassSteps, kPasses> steps_;
};

/// The builder of one network's stages. They are kept for the process: plans that differ in
/// replicas, sharding or order have the same ones.
class BuiltGraphs {
public:
    BuiltGraphs(const models::Architecture& model, const models::Execution& execution,
                models::ExpertParameters experts);

    /// With models::build_stage() of the slice. Thread-safe.
    std::shared_ptr<const BuiltStage> get(const models::StageContent& content, int slice) const;

private:
    struct Key;

    std::shared_ptr<const models::Architecture> model_;
    models::Execution execution_;
    models::ExpertParameters experts_;
};

}  // namespace debubble::sim
