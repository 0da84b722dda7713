#pragma once

#include <vector>

#include "exec/core/training/shared_gradients.h"
#include "exec/core/training/training_groups.h"

/// The step that Muon takes with the hidden matrices of layers (Jordan et al. 2024; Megatron-LM
/// d98e8a6, core/optimizer/muon.py).
namespace debubble::exec {

struct MatrixPass {
    scenarios::MuonOptions muon;
    double lr = 0;               ///< learning rate of this step
    double gradient_factor = 1;  ///< product of loss scale and clipping
};

/// Steps them in the order of their units: the momentum m becomes momentum m + (1 - momentum) g, is
/// made orthogonal, each part of a packed matrix for itself, and
///     w <- (1 - lr weight_decay) w - lr scale orthogonal(m).
/// Ranks that have parts of a matrix, by ZeRO or by tensor parallelism, add them up to the whole,
/// which every rank that steps some of it makes orthogonal for itself (the mode `duplicated`). All
/// ranks of these groups step together.
void step_matrices(const MatrixPass& pass, const std::vector<LocalStage>& stages,
                   TrainingGroups& groups, Kernels& kernels, Arena& arena, Deadline deadline);

/// Makes each kind of product of these steps once, of zeros, and changes no state: a device chooses
/// how to make them then (docs/decisions/0035).
void rehearse_matrices(const std::vector<LocalStage>& stages, Kernels& kernels, Arena& arena);

/// The factor of an orthogonal step.
double step_scale(scenarios::MuonOptions::ScaleMode mode, const models::MatrixPart& shape);

}  // namespace debubble::exec
