#pragma once

#include "exec/cpu/fp32_operands.h"

/// Queries, keys and values, or their gradients, as fp32, even where they are columns of one packed
/// tensor (Attention::packed_row), which is then copied whole.
namespace debubble::exec {

template <class T>
struct HeadViews {
    View<T> q, k, v;
};

/// The columns of `all`, a copy of the packed tensor, that `q`, `k` and `v` have in that tensor.
template <class T, class Tensor>
HeadViews<T> columns_of(const View<T>& all, const Tensor& q, const Tensor& k, const Tensor& v) {
    const auto column = [&](const Tensor& part) -> View<T> {
        return {all.data + (part.data - q.data) / size_of(q.type), part.shape};
    };
    return {column(q), column(k), column(v)};
}

inline bool is_copied_whole(const Attention& attention, DataType type) {
    return attention.packed_row > 0 && type != DataType::Fp32;
}

inline HeadViews<const float> heads_in(Fp32Operands& use, const Attention& attention,
                                       const ConstTensorView& q, const ConstTensorView& k,
                                       const ConstTensorView& v) {
    if (!is_copied_whole(attention, q.type)) return {use.in(q), use.in(k), use.in(v)};
    const ConstTensorView all{q.data, {q.shape[0], q.shape[1], attention.packed_row}, q.type};
    return columns_of(use.in(all), q, k, v);
}

inline HeadViews<float> heads_out(Fp32Operands& use, const Attention& attention,
                                  const TensorView& dq, const TensorView& dk,
                                  const TensorView& dv) {
    const Write keys = attention.key_gradients;
    if (!is_copied_whole(attention, dq.type))
        return {use.out(dq), use.out(dk, keys), use.out(dv, keys)};
    const TensorView all{dq.data, {dq.shape[0], dq.shape[1], attention.packed_row}, dq.type};
    return columns_of(use.out(all, keys), dq, dk, dv);
}

}  // namespace debubble::exec
