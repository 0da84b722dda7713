#pragma once

#include <cstdint>

#include "exec/core/operator_options.h"
#include "exec/core/tensor.h"

namespace debubble::exec {

/// The parts of Muon's step (Jordan et al. 2024; torch.optim.Muon) that are no products. The whole
/// matrix is fp32 [rows, columns]; a rank's gradients, moments and weights of it are flat, of any
/// floating-point type, and hold slices of it.
class MuonKernels {
public:
    /// With g = gradient_factor gradient, in the slice: moment += (1 - momentum) (g - moment), and
    /// the whole becomes the moment, or Nesterov's g + momentum (moment - g).
    virtual void muon_momentum(const MuonMomentum& how, const MatrixSlice& slice,
                               ConstTensorView gradient, TensorView moment, TensorView whole) = 0;
    /// main = kept main - rate whole, in the slice; `parameter` is main's copy in the compute type,
    /// and empty where main is of that type.
    virtual void muon_step(double kept, double rate, const MatrixSlice& slice,
                           ConstTensorView whole, TensorView main, TensorView parameter) = 0;
    /// x (fp32) /= |x| + 1e-7, where |x| is the root of the sum of all squares, made in fp64.
    virtual void scale_to_unit_norm(TensorView x) = 0;
    /// y = a x + b y, both fp32.
    virtual void combine(double a, ConstTensorView x, double b, TensorView y) = 0;

protected:
    ~MuonKernels() = default;
    static constexpr double kLeastNorm = 1e-7;  ///< keeps a matrix of zeros at zero
};

}  // namespace debubble::exec
