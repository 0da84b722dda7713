#pragma once

#include <cstdint>

#include "exec/core/operator_options.h"
#include "exec/core/tensor.h"

/// The steps of optimizers.
namespace debubble::exec {

/// Steps of PyTorch's optimizers, with its definitions and defaults, element by element, so that a
/// step on shards is a step on the whole. All operands of a step have the same shape.
///
/// `step` counts from 1; moments and velocity are zero before the first. `gradient_factor` undoes
/// loss scaling and clips. Weight decay pulls parameters to `decays_to`: to 0, or to 1 where a
/// norm's weight stands for 1 + w. `main` is the parameter that the optimizer steps, `parameter`
/// its copy in the compute type, which is written too; `parameter` is empty where main is of that
/// type.
class OptimizerKernels {
public:
    virtual void adam_step(const AdamOptions& options, std::int64_t step, double gradient_factor,
                           double decays_to, ConstTensorView gradient, TensorView main,
                           TensorView first_moment, TensorView second_moment,
                           TensorView parameter) = 0;
    /// `velocity` may be empty where there is no momentum.
    virtual void sgd_step(const SgdOptions& options, std::int64_t step, double gradient_factor,
                          double decays_to, ConstTensorView gradient, TensorView main,
                          TensorView velocity, TensorView parameter) = 0;
    /// total (fp64 [1]) += the sum of squares; not finite if an element is not.
    virtual void sum_of_squares(ConstTensorView gradient, TensorView total) = 0;

protected:
    ~OptimizerKernels() = default;
};

/// The parts of Muon's step (Jordan et al. 2024; torch.optim.Muon) that are not GEMMs. The whole
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
