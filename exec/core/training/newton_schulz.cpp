#include "exec/core/training/optimizer_pass.h"

#include <algorithm>

#include "base/check.h"

namespace debubble::exec {

namespace {

constexpr double kA = 3.4445, kB = -4.7750, kC = 2.0315;

}  // namespace

void make_orthogonal(TensorView x, int steps, Kernels& kernels, Arena& arena) {
    DEBUBBLE_CHECK(x.type == DataType::Fp32, "matrices are made orthogonal in fp32");
    const std::int64_t rows = x.shape[0], columns = x.shape[1];
    const std::int64_t shorter = std::min(rows, columns);
    const auto room = [&](const Shape& shape) {
        return arena.allocate(shape, DataType::Fp32, MemoryClass::Workspace, "Newton-Schulz");
    };
    const ArenaTensor product = room({shorter, shorter}), polynomial = room({shorter, shorter});
    const ArenaTensor next = room(x.shape);
    const TensorView a = product.view(), b = polynomial.view(), y = next.view();
    kernels.scale_to_unit_norm(x);
    for (int step = 0; step < steps; ++step) {
        if (rows <= columns) {
            kernels.linear_forward(WeightLayout::OutputsInputs, x, x, {}, a);
        } else {
            kernels.fill_zero(a);
            kernels.linear_backward_weight(WeightLayout::InputsOutputs, x, x, a, {});
        }
        kernels.linear_forward(WeightLayout::InputsOutputs, a, a, {}, b);
        kernels.combine(kB, a, kC, b);
        if (rows <= columns)
            kernels.linear_forward(WeightLayout::InputsOutputs, b, x, {}, y);
        else
            kernels.linear_forward(WeightLayout::InputsOutputs, x, b, {}, y);
        kernels.combine(1, y, kA, x);
    }
}

}  // namespace debubble::exec
