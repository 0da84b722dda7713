#include "exec/cpu/cpu_kernels.h"

#include "exec/cpu/fixed_order/attention.h"
#include "exec/cpu/fixed_order/gemm.h"
#include "exec/cpu/fp32_operands.h"
#include "exec/cpu/operators/cpu_operators.h"

namespace debubble::exec {

namespace {

class FixedOrderKernels final : public CpuOperators {
public:
    FixedOrderKernels() : CpuOperators(RowWalk{}) {}
    std::string_view name() const override { return name_of(CpuBackEnd::FixedOrder); }

    DEBUBBLE_OVERRIDE_PRODUCTS;
};

void FixedOrderKernels::linear_forward(WeightLayout layout, ConstTensorView x,
                                       ConstTensorView weight, ConstTensorView bias, TensorView y) {
    Fp32Operands use(scratch_);
    fixed_order::linear_forward(layout, use.in(x), use.in(weight), use.in(bias), use.out(y));
}

void FixedOrderKernels::linear_backward_input(WeightLayout layout, ConstTensorView dy,
                                              ConstTensorView weight, TensorView dx, Write write) {
    Fp32Operands use(scratch_);
    fixed_order::linear_backward_input(layout, use.in(dy), use.in(weight), use.out(dx, write),
                                       write);
}

void FixedOrderKernels::linear_backward_weight(WeightLayout layout, ConstTensorView x,
                                               ConstTensorView dy, TensorView dweight,
                                               TensorView dbias) {
    Fp32Operands use(scratch_);
    fixed_order::linear_backward_weight(layout, use.in(x), use.in(dy), use.changed(dweight),
                                        use.changed(dbias));
}

void FixedOrderKernels::attention_forward(const Attention& attention, ConstTensorView q,
                                          ConstTensorView k, ConstTensorView v, TensorView out,
                                          TensorView log_sum) {
    Fp32Operands use(scratch_);
    const auto heads = heads_in(use, attention, q, k, v);
    fixed_order::attention_forward(attention, heads.q, heads.k, heads.v, use.out(out),
                                   use.out(log_sum));
}

void FixedOrderKernels::attention_backward_input(const Attention& attention, ConstTensorView dout,
                                                 ConstTensorView q, ConstTensorView k,
                                                 ConstTensorView v, ConstTensorView out,
                                                 ConstTensorView log_sum, TensorView dq,
                                                 TensorView dk, TensorView dv) {
    Fp32Operands use(scratch_);
    const auto heads = heads_in(use, attention, q, k, v);
    const auto gradients = heads_out(use, attention, dq, dk, dv);
    fixed_order::attention_backward_input(attention, use.in(dout), heads.q, heads.k, heads.v,
                                          use.in(out), use.in(log_sum), gradients.q, gradients.k,
                                          gradients.v);
}

}  // namespace

std::unique_ptr<Kernels> make_fixed_order_kernels() {
    return std::make_unique<FixedOrderKernels>();
}

}  // namespace debubble::exec
