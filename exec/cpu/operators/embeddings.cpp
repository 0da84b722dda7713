#include "exec/cpu/fp32_operands.h"
#include "exec/cpu/loops/ends.h"
#include "exec/cpu/operators/cpu_operators.h"

namespace debubble::exec {

void CpuOperators::token_embedding_forward(ConstTensorView tokens, std::int64_t first_entry,
                                           ConstTensorView table, TensorView y) {
    const View<const std::int32_t> ids = tokens.as<std::int32_t>();
    const std::int64_t hidden = table.shape.columns();
    const std::int64_t entries = rows_of(table);
    assert(y.shape.elements() == ids.size() * hidden && "y [tokens, hidden]");
    for (std::int64_t i = 0; i < ids.size(); ++i) {
        const std::int64_t entry = ids[i] - first_entry;
        const TensorView row = piece(y, i * hidden, hidden);
        if (entry < 0 || entry >= entries) {
            fill_zero(row);
        } else {
            convert(piece(table, entry * hidden, hidden), row);
        }
    }
}

void CpuOperators::token_embedding_backward_weight(ConstTensorView tokens, std::int64_t first_entry,
                                                   ConstTensorView dy, TensorView dtable) {
    Fp32Operands whole(scratch_);
    const View<float> sum = whole.changed(dtable);
    const std::int64_t count = tokens.shape.elements();
    walk_.in_order(count, dy.shape.columns(), [&](Fp32Operands& use, Rows rows) {
        loops::token_embedding_backward_weight(rows.of(tokens).as<std::int32_t>(), first_entry,
                                               use.in(rows.of(dy)), sum);
    });
}

}  // namespace debubble::exec
