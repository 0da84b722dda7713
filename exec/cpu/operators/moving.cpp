#include <cstring>

#include "exec/cpu/fp32_operands.h"
#include "exec/cpu/loops/elements.h"
#include "exec/cpu/operators/cpu_operators.h"

namespace debubble::exec {

void CpuOperators::join_columns(int parts, ConstTensorView gathered, TensorView x) {
    Fp32Operands use(scratch_);
    loops::join_columns(parts, use.in(gathered), use.out(x));
}

void CpuOperators::take_columns(int part, int parts, ConstTensorView x, TensorView y) {
    Fp32Operands use(scratch_);
    loops::take_columns(part, parts, use.in(x), use.out(y));
}

void CpuOperators::fill_zero(TensorView x) {
    if (x) std::memset(x.data, 0, x.bytes());
}

void CpuOperators::copy(ConstTensorView from, TensorView to) {
    convert(from, to);
}

}  // namespace debubble::exec
