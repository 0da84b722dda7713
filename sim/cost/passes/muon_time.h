#pragma once

#include <cstdint>
#include <vector>

#include "models/graph/graph.h"
#include "scenarios/plan/scenario.h"
#include "sim/cost/passes/pass_time.h"
#include "sim/memory/layer_fold.h"

/// The GEMMs of a step of Muon (Megatron-LM d98e8a6, core/optimizer/muon.py and
/// layer_wise_optimizer.py).
namespace debubble::sim {

/// Equal matrices of a rank's stage, whole: tensor-parallel ranks gather them, and each
/// orthogonalises the whole (the mode `duplicated`, Megatron-LM's default).
struct StepMatrix {
    std::int64_t rows = 0;
    std::int64_t columns = 0;
    bool expert = false;
    int gathered_by = 1;  ///< number of ranks that hold a part of each
    int count = 1;
    friend bool operator==(const StepMatrix&, const StepMatrix&) = default;
};

/// The trained matrices of the stage except embedding and head.
std::vector<StepMatrix> step_matrices(const models::StageGraph& graph, LayerFold fold);

/// FLOPs of one orthogonalisation in `steps` iterations: 4 m^2 n + 2 m^3 each, m the smaller side.
double newton_schulz_flops(const StepMatrix& matrix, int steps);

/// The time for a rank's matrices: with ZeRO each replica orthogonalises its share of them, at
/// least one, else all.
Duration muon_time(const scenarios::Scenario& scenario, const std::vector<StepMatrix>& matrices,
                   const PassPricer& pricer);

}  // namespace debubble::sim
