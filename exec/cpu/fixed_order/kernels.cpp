#include "exec/cpu/fixed_order/kernels.h"

#include "exec/cpu/operators/cpu_operators.h"

namespace debubble::exec {

namespace {

class FixedOrderKernels final : public CpuOperators {
public:
    FixedOrderKernels() : CpuOperators(RowWalk{}) {}
    std::string_view name() const override { return "fixed-order"; }
};

}  // namespace

std::unique_ptr<Kernels> make_fixed_order_kernels() {
    return std::make_unique<FixedOrderKernels>();
}

}  // namespace debubble::exec
