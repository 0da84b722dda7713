#include "exec/core/training/newton_schulz.h"

#include <cmath>

#include "base/check.h"

namespace debubble::exec {

namespace {

constexpr float kA = 3.4445F, kB = -4.7750F, kC = 2.0315F;
constexpr double kLeastNorm = 1e-7;

void scale_to_unit_norm(TensorView x) {
    const std::int64_t count = x.shape.elements();
    float* const values = reinterpret_cast<float*>(x.data);
    double squares = 0;
    for (std::int64_t i = 0; i < count; ++i)
        squares += static_cast<double>(values[i]) * static_cast<double>(values[i]);
    const double norm = std::sqrt(squares) + kLeastNorm;
    for (std::int64_t i = 0; i < count; ++i)
        values[i] = static_cast<float>(static_cast<double>(values[i]) / norm);
}

/// y = a x + b y, element by element.
void combine(float a, ConstTensorView x, float b, TensorView y) {
    const std::int64_t count = y.shape.elements();
    const auto* const from = reinterpret_cast<const float*>(x.data);
    auto* const to = reinterpret_cast<float*>(y.data);
    for (std::int64_t i = 0; i < count; ++i) to[i] = a * from[i] + b * to[i];
}

}  // namespace

void make_orthogonal(TensorView x, int steps, Kernels& kernels, Arena& arena) {
    DEBUBBLE_CHECK(kernels.on_host() && x.type == DataType::Fp32,
                   "the processor makes matrices orthogonal in fp32");
    const std::int64_t rows = x.shape[0], columns = x.shape[1];
    const std::int64_t shorter = std::min(rows, columns);
    const auto room = [&](const Shape& shape) {
        return arena.allocate(shape, DataType::Fp32, MemoryClass::Workspace, "Newton-Schulz");
    };
    const ArenaTensor product = room({shorter, shorter}), polynomial = room({shorter, shorter});
    const ArenaTensor next = room(x.shape);
    const TensorView a = product.view(), b = polynomial.view(), y = next.view();
    scale_to_unit_norm(x);
    for (int step = 0; step < steps; ++step) {
        if (rows <= columns) {
            kernels.linear_forward(WeightLayout::OutputsInputs, x, x, {}, a);
        } else {
            kernels.fill_zero(a);
            kernels.linear_backward_weight(WeightLayout::InputsOutputs, x, x, a, {});
        }
        kernels.linear_forward(WeightLayout::InputsOutputs, a, a, {}, b);
        kernels.finish();
        combine(kB, a, kC, b);
        if (rows <= columns)
            kernels.linear_forward(WeightLayout::InputsOutputs, b, x, {}, y);
        else
            kernels.linear_forward(WeightLayout::InputsOutputs, x, b, {}, y);
        kernels.finish();
        combine(1, y, kA, x);
    }
}

}  // namespace debubble::exec
