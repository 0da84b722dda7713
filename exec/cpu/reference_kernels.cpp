#include "exec/cpu/reference_kernels.h"

#include "exec/cpu/operators/cpu_operators.h"

namespace debubble::exec {

namespace {

class ReferenceKernels final : public CpuOperators {
public:
    ReferenceKernels() : CpuOperators(RowWalk{}) {}
    std::string_view name() const override { return "reference"; }
};

}  // namespace

std::unique_ptr<Kernels> make_reference_kernels() {
    return std::make_unique<ReferenceKernels>();
}

}  // namespace debubble::exec
