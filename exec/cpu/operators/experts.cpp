#include "exec/cpu/loops/experts.h"

#include <cstring>

#include "exec/cpu/operators/cpu_operators.h"

namespace debubble::exec {

namespace {

using loops::ExpertRows;
using loops::TokenRange;

/// Tokens do not depend on each other, but their rows may lie anywhere: operands are available as a
/// whole.
template <class Body>
void each_token(int workers, const ExpertRows& rows, const Body& body) {
    on_workers(workers, [&](int worker) {
        const Share mine = share_of(rows.tokens(), worker, workers);
        body(TokenRange{mine.first, mine.end});
    });
}

}  // namespace

void CpuOperators::first_rows_of_experts(ConstTensorView weights, TensorView first_rows) {
    const ExpertRows rows(weights.as<float>());
    std::int32_t* to = first_rows.as<std::int32_t>().data;
    for (const std::int64_t first : rows.first()) *to++ = static_cast<std::int32_t>(first);
}

void CpuOperators::permute_forward(ConstTensorView weights, ConstTensorView x, TensorView rows) {
    assert(x.type == rows.type && x.shape.columns() == rows.shape.columns() && "rows are copied");
    const ExpertRows places(weights.as<float>());
    const std::int64_t bytes = x.shape.columns() * size_of(x.type);
    each_token(walk_.workers(), places, [&](TokenRange tokens) {
        for (std::int64_t token = tokens.first; token < tokens.end; ++token)
            for (const std::int64_t row : places.rows_of(token))
                std::memcpy(rows.data + row * bytes, x.data + token * bytes, bytes);
    });
}

void CpuOperators::permute_backward_input(ConstTensorView weights, ConstTensorView drows,
                                          TensorView dx) {
    const ExpertRows places(weights.as<float>());
    Fp32Operands use(scratch_);
    const View<const float> from = use.in(drows);
    const View<float> to = use.out(dx);
    each_token(walk_.workers(), places,
               [&](TokenRange tokens) { loops::permute_backward(places, tokens, from, to); });
}

void CpuOperators::combine_forward(ConstTensorView weights, ConstTensorView rows, TensorView y) {
    const ExpertRows places(weights.as<float>());
    Fp32Operands use(scratch_);
    const View<const float> from = use.in(rows);
    const View<float> to = use.out(y);
    each_token(walk_.workers(), places, [&](TokenRange tokens) {
        loops::combine_forward(places, tokens, weights.as<float>(), from, to);
    });
}

void CpuOperators::combine_backward_input(ConstTensorView weights, ConstTensorView dy,
                                          ConstTensorView rows, TensorView drows,
                                          TensorView dweights) {
    const ExpertRows places(weights.as<float>());
    Fp32Operands use(scratch_);
    const View<const float> above = use.in(dy), from = use.in(rows);
    const View<float> to = use.out(drows);
    each_token(walk_.workers(), places, [&](TokenRange tokens) {
        loops::combine_backward(places, tokens, weights.as<float>(), above, from, to,
                                dweights ? dweights.as<float>() : View<float>{});
    });
}

}  // namespace debubble::exec
