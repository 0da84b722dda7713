#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "exec/core/arena.h"
#include "exec/core/device_lanes.h"
#include "exec/core/kernels.h"
#include "exec/core/training/shared_gradients.h"
#include "exec/core/training/state/state_policy.h"
#include "exec/core/training/training_groups.h"
#include "exec/core/training/training_options.h"

/// The optimizer's steps over everything that a rank holds: elementwise ones, through a device's
/// memory where the state is offloaded, and Muon's steps of matrices.
namespace debubble::exec {

/// One pass of the optimizer over everything that a rank steps.
struct OptimizerPass {
    OptimizerOptions optimizer;
    double lr = 0;  ///< learning rate of this step
    std::int64_t step = 1;
    double gradient_factor = 1;  ///< product of loss scale and clipping
};

/// Steps all parameters but the matrices that Muon steps (step_matrices). State on the host passes
/// through a device's memory (pass_through_device); on the processor it is stepped in place, like
/// all other state.
void step_parameters(const OptimizerPass& pass, const std::vector<LocalStage>& stages,
                     const StatePolicy& policy, Kernels& kernels, Arena& arena);

/// A unit's optimizer state in the host's memory: flat tensors with equal numbers of elements.
struct HostState {
    std::vector<TensorView> tensors;
    /// Asks the kernels to step the elements from `first` on: `slices` are the parts of the
    /// tensors, in the device's memory.
    std::function<void(std::int64_t first, std::span<const TensorView> slices)> step;
};

/// Steps on the device state that lies on the host, slice by slice through a buffer of at most
/// `buffer` bytes, of which each slice takes a third: one lane brings slices in, the kernels step
/// them, another lane takes them back, so that both directions of the link and the kernels work at
/// the same time (ZeRO-Infinity's overlap, Rajbhandari et al. 2021). Work that the kernels are
/// asked for later starts when everything is back.
void pass_through_device(std::span<const HostState> units, DeviceLanes& lanes, Arena& arena,
                         Bytes buffer);

// The step that Muon takes with the hidden matrices of layers (Jordan et al. 2024; Megatron-LM
// d98e8a6, core/optimizer/muon.py).

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

/// Runs each kind of GEMM of these steps once, on zeros, and changes no state: the device then
/// chooses its algorithms (docs/decisions/0035).
void rehearse_matrices(const std::vector<LocalStage>& stages, Kernels& kernels, Arena& arena);

/// The factor of an orthogonal step.
double step_scale(scenarios::MuonOptions::ScaleMode mode, const models::MatrixPart& shape);

/// Makes a matrix nearly orthogonal: x becomes close to U V^T of its singular value decomposition
/// U S V^T, with singular values between about 0.7 and 1.2, by iterations
///     X <- a X + (b A + c A^2) X,  A = X X^T,
/// of X / |x|, with the coefficients (3.4445, -4.7750, 2.0315) of Jordan et al. 2024 (Muon), which
/// torch.optim.Muon has too. Products and sums are in fp32.
///
/// x is fp32 [rows, columns] in the kernels' memory. The arena gives room for as much again and for
/// two matrices of the shorter side.
void make_orthogonal(TensorView x, int steps, Kernels& kernels, Arena& arena);

}  // namespace debubble::exec
