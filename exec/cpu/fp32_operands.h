#pragma once

#include <array>
#include <memory>
#include <vector>

#include "exec/core/operator_options.h"
#include "exec/core/tensor.h"

/// Conversion between fp32, in which the processor computes, and the types in which tensors are
/// stored.
namespace debubble::exec {

/// Converts `from`, whose type is fp32, bf16 or fp16, to `to` [elements].
void widen(const ConstTensorView& from, float* to);
/// Rounds to nearest, ties to even.
void narrow(const float* from, const TensorView& to);

/// Converts between any of the three types. Equal types, of any kind, are copied.
void convert(const ConstTensorView& from, const TensorView& to);

// Converts 16-bit operands for an operator that computes in fp32.

/// Memory for copies, kept from call to call and grown on demand. One thread uses it.
class Fp32Scratch {
public:
    /// The n-th piece of memory, with at least `count` elements; its content may be lost.
    float* piece(std::size_t n, std::int64_t count);

private:
    struct Piece {
        std::unique_ptr<float[]> memory;
        std::int64_t size = 0;
    };
    std::vector<Piece> pieces_;
};

/// The operands of one call as fp32: fp32 operands stay where they are, others are copied to
/// scratch. The results of the call are rounded once, when this object ends.
class Fp32Operands {
public:
    explicit Fp32Operands(Fp32Scratch& scratch) : scratch_(scratch) {}
    Fp32Operands(const Fp32Operands&) = delete;
    Fp32Operands& operator=(const Fp32Operands&) = delete;
    ~Fp32Operands();

    View<const float> in(const ConstTensorView& x);
    View<float> out(const TensorView& x);      ///< its content is undefined at first
    View<float> changed(const TensorView& x);  ///< it starts with the values of x
    View<float> out(const TensorView& x, Write write) {
        return write == Write::Add ? changed(x) : out(x);
    }

private:
    static constexpr std::size_t kMaxWritten = 4;
    struct Copy {
        const float* from = nullptr;
        TensorView to;
    };
    Fp32Scratch& scratch_;
    std::size_t used_ = 0;
    std::array<Copy, kMaxWritten> to_store_;
    std::size_t stored_ = 0;
};

// Queries, keys and values, or their gradients, as fp32, even where they are columns of one packed
// tensor (Attention::packed_row), which is then copied whole.

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
    return attention.packed_row && type != DataType::Fp32;
}

inline HeadViews<const float> heads_in(Fp32Operands& use, const Attention& attention,
                                       const ConstTensorView& q, const ConstTensorView& k,
                                       const ConstTensorView& v) {
    if (!is_copied_whole(attention, q.type)) return {use.in(q), use.in(k), use.in(v)};
    const ConstTensorView all{q.data, {q.shape[0], q.shape[1], *attention.packed_row}, q.type};
    return columns_of(use.in(all), q, k, v);
}

inline HeadViews<float> heads_out(Fp32Operands& use, const Attention& attention,
                                  const TensorView& dq, const TensorView& dk,
                                  const TensorView& dv) {
    const Write keys = attention.key_gradients;
    if (!is_copied_whole(attention, dq.type))
        return {use.out(dq), use.out(dk, keys), use.out(dv, keys)};
    const TensorView all{dq.data, {dq.shape[0], dq.shape[1], *attention.packed_row}, dq.type};
    return columns_of(use.out(all, keys), dq, dk, dv);
}

}  // namespace debubble::exec
