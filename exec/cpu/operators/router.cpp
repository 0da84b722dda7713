#include "exec/cpu/loops/experts.h"

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

void CpuOperators::drop_over_capacity(std::int64_t capacity, ConstTensorView weights,
                                      TensorView kept) {
    loops::drop_over_capacity(capacity, weights.as<float>(), kept.as<float>());
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

void CpuOperators::shared_gate_forward(ConstTensorView x, ConstTensorView weight,
                                       ConstTensorView branch, TensorView y, TensorView scores) {
    Fp32Operands whole(scratch_);
    const auto of_all = whole.in(weight);
    each_row(x, [&](Fp32Operands& use, Rows rows) {
        loops::shared_gate_forward(use.in(rows.of(x)), of_all, use.in(rows.of(branch)),
                                   use.out(rows.of(y)), rows.of(scores).as<float>());
    });
}

void CpuOperators::shared_gate_backward(ConstTensorView dy, ConstTensorView x,
                                        ConstTensorView weight, ConstTensorView branch,
                                        ConstTensorView scores, TensorView dbranch, TensorView dx,
                                        TensorView dweight) {
    Fp32Operands whole(scratch_);
    const auto of_all = whole.in(weight);
    const auto sum = whole.changed(dweight);
    walk_.in_order(rows_of(x), x.shape.columns(), [&](Fp32Operands& use, Rows rows) {
        loops::shared_gate_backward_weight(use.in(rows.of(dy)), use.in(rows.of(x)),
                                           use.in(rows.of(branch)), rows.of(scores).as<float>(),
                                           sum);
    });
    each_row(x, [&](Fp32Operands& use, Rows rows) {
        loops::shared_gate_backward_input(use.in(rows.of(dy)), of_all, use.in(rows.of(branch)),
                                          rows.of(scores).as<float>(), use.out(rows.of(dbranch)),
                                          use.changed(rows.of(dx)));
    });
}

}  // namespace debubble::exec
