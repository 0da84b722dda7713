#include <cmath>

#include "exec/core/half.h"
#include "exec/cpu/operators/cpu_operators.h"

namespace debubble::exec {

namespace {

float element(const ConstTensorView& view, std::int64_t i) {
    switch (view.type) {
        case DataType::Fp32: return reinterpret_cast<const float*>(view.data)[i];
        case DataType::Bf16: return to_float(reinterpret_cast<const BFloat16*>(view.data)[i]);
        case DataType::Fp16: return to_float(reinterpret_cast<const Float16*>(view.data)[i]);
        case DataType::Fp64:
        case DataType::Int32: break;
    }
    return 0;
}

void put(const TensorView& view, std::int64_t i, float value) {
    switch (view.type) {
        case DataType::Fp32: reinterpret_cast<float*>(view.data)[i] = value; return;
        case DataType::Bf16: reinterpret_cast<BFloat16*>(view.data)[i] = to_bfloat16(value); return;
        case DataType::Fp16: reinterpret_cast<Float16*>(view.data)[i] = to_float16(value); return;
        case DataType::Fp64:
        case DataType::Int32: return;
    }
}

/// Calls `visit` with the index of every element of the slice, and its index in the whole matrix.
template <class Visit>
void each(const MatrixSlice& slice, const Visit& visit) {
    for (std::int64_t r = 0; r < slice.rows; ++r)
        for (std::int64_t c = 0; c < slice.columns; ++c)
            visit(slice.first + r * slice.row_stride + c * slice.column_stride,
                  slice.first_in_whole + r * slice.whole_row + c);
}

}  // namespace

void CpuOperators::muon_momentum(const MuonMomentum& how, const MatrixSlice& slice,
                                 ConstTensorView gradient, TensorView moment, TensorView whole) {
    const auto factor = static_cast<float>(how.gradient_factor);
    const auto decay = static_cast<float>(how.momentum);
    const View<float> to = whole.as<float>();
    each(slice, [&](std::int64_t local, std::int64_t in_whole) {
        const float g = element(gradient, local) * factor;
        const float before = element(moment, local);
        const float m = before + (1 - decay) * (g - before);
        put(moment, local, m);
        to[in_whole] = how.nesterov ? g + decay * (m - g) : m;
    });
}

void CpuOperators::muon_step(double kept, double rate, const MatrixSlice& slice,
                             ConstTensorView whole, TensorView main, TensorView parameter) {
    const auto keep = static_cast<float>(kept), along = static_cast<float>(rate);
    const View<const float> from = whole.as<float>();
    each(slice, [&](std::int64_t local, std::int64_t in_whole) {
        const float stepped = keep * element(main, local) - along * from[in_whole];
        put(main, local, stepped);
        if (parameter) put(parameter, local, stepped);
    });
}

/// The sum has the order of the elements, whatever the number of threads.
void CpuOperators::scale_to_unit_norm(TensorView x) {
    const View<float> values = x.as<float>();
    double squares = 0;
    for (const float value : values)
        squares += static_cast<double>(value) * static_cast<double>(value);
    const double norm = std::sqrt(squares) + kLeastNorm;
    for (float& value : values) value = static_cast<float>(static_cast<double>(value) / norm);
}

void CpuOperators::combine(double a, ConstTensorView x, double b, TensorView y) {
    const auto of_x = static_cast<float>(a), of_y = static_cast<float>(b);
    const View<const float> from = x.as<float>();
    const View<float> to = y.as<float>();
    for (std::int64_t i = 0; i < to.size(); ++i) to[i] = of_x * from[i] + of_y * to[i];
}

}  // namespace debubble::exec
