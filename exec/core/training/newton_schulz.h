#pragma once

#include "exec/core/arena.h"
#include "exec/core/kernels.h"

namespace debubble::exec {

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
