#include "exec/cpu/loops/router.h"

#include "exec/cpu/operators/cpu_operators.h"

namespace debubble::exec {

namespace {

View<const float> fp32_or_empty(const ConstTensorView& x) {
    return x ? x.as<float>() : View<const float>{};
}

}  // namespace

void CpuOperators::route_forward(const RouterChoice& choice, ConstTensorView logits,
                                 ConstTensorView correction, TensorView weights) {
    each_row(logits, [&](Fp32Operands& use, Rows rows) {
        loops::route_forward(choice, use.in(rows.of(logits)), fp32_or_empty(correction),
                             rows.of(weights).as<float>());
    });
}

void CpuOperators::route_backward_input(const RouterChoice& choice, ConstTensorView dweights,
                                        ConstTensorView weights, ConstTensorView logits,
                                        TensorView dlogits) {
    each_row(weights, [&](Fp32Operands& use, Rows rows) {
        loops::route_backward(choice, rows.of(dweights).as<float>(), rows.of(weights).as<float>(),
                              logits ? use.in(rows.of(logits)) : View<const float>{},
                              rows.of(dlogits).as<float>());
    });
}

void CpuOperators::count_chosen(ConstTensorView weights, TensorView counts) {
    loops::count_chosen(weights.as<float>(), counts.as<float>());
}

void CpuOperators::router_losses_forward(const RouterLosses& losses, ConstTensorView logits,
                                         ConstTensorView counts, TensorView balance, TensorView z) {
    const std::int64_t tokens = rows_of(logits), experts = logits.shape.columns();
    if (losses.balance != 0)
        balance.as<double>()[0] += walk_.sum(tokens, experts, [&](Fp32Operands& use, Rows rows) {
            return loops::balance_loss(losses, use.in(rows.of(logits)), counts.as<float>());
        });
    if (losses.z != 0)
        z.as<double>()[0] += walk_.sum(tokens, experts, [&](Fp32Operands& use, Rows rows) {
            return loops::z_loss(losses, use.in(rows.of(logits)));
        });
}

void CpuOperators::router_losses_backward_input(const RouterLosses& losses, ConstTensorView logits,
                                                ConstTensorView counts, TensorView dlogits) {
    each_row(logits, [&](Fp32Operands& use, Rows rows) {
        loops::router_losses_backward(losses, use.in(rows.of(logits)), fp32_or_empty(counts),
                                      rows.of(dlogits).as<float>());
    });
}

}  // namespace debubble::exec
