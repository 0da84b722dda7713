#pragma once

#include <optional>
#include <vector>

#include "exec/core/stage/operators/away_tensors.h"
#include "exec/core/stage/operators/offloaded_tensors.h"
#include "exec/core/stage/operators/operator_call.h"
#include "exec/core/stage/passes/operator_clock.h"
#include "models/graph/operator_runs.h"

namespace debubble::exec {

/// A slice of the sequence with its graph and the order of its passes.
struct SlicePlan {
    models::StageGraph graph;
    models::RunsByPass fused;
    models::RunsByPass split;
};

/// What the passes of a stage share: its slices, its tensors, where these are away, and the clock.
struct StageParts {
    /// `graphs`: one for each slice of the sequence, or one for all of them.
    StageParts(std::vector<models::StageGraph> graphs, const StageTools& tools);

    const SlicePlan& slice_of(const MicroBatch& micro_batch) const;
    /// Makes room for the tensors that the call needs, except one.
    void make_room(const MicroBatch& micro_batch, const models::StageGraph& graph,
                   const models::OperatorRun& run, std::optional<int> but);
    /// Writes an action into the log, if there is one.
    void did(const Action& action);

    StageMemory state;
    std::vector<SlicePlan> slices;
    OffloadedTensors offloaded;
    AwayTensors away;
    OperatorClock clock;

private:
    ArenaTensor allocate(const models::Tensor& tensor, const RoutedPass& pass);
    void make_room(const MicroBatch& micro_batch, const models::StageGraph& graph, int index,
                   std::optional<int> layer);
};

}  // namespace debubble::exec
