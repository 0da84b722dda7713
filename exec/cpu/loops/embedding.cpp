#include "exec/cpu/loops/ends.h"

#include <algorithm>

#include "exec/cpu/loops/elements.h"

namespace debubble::exec::loops {

void token_embedding_backward_weight(View<const std::int32_t> tokens, std::int64_t first_entry,
                                     In dy, Out dtable) {
    assert(dy.rows() == tokens.size() && dy.columns() == dtable.columns() && "dy [tokens, hidden]");
    const std::int64_t hidden = dy.columns();
    for (std::int64_t i = 0; i < tokens.size(); ++i) {
        const std::int64_t entry = tokens[i] - first_entry;
        if (entry < 0 || entry >= dtable.rows()) continue;
        add({dy.row(i), {hidden}}, {dtable.row(entry), {hidden}});
    }
}

void position_embedding_forward(std::int64_t first_position, In x, In table, Out y) {
    assert(x.shape.rank() == 3 && x.size() == y.size() && "x, y [samples, rows, hidden]");
    assert(first_position + x.shape[1] <= table.rows() && "the table has all positions");
    const std::int64_t size = x.shape[1] * x.columns();
    const float* positions = table.row(first_position);
    for (std::int64_t sample = 0; sample < x.shape[0]; ++sample) {
        residual_forward({x.data + sample * size, {size}}, {positions, {size}},
                         {y.data + sample * size, {size}});
    }
}

void position_embedding_backward_weight(std::int64_t first_position, In dy, Out dtable) {
    assert(dy.shape.rank() == 3 && "dy [samples, rows, hidden]");
    assert(first_position + dy.shape[1] <= dtable.rows() && "the table has all positions");
    const std::int64_t size = dy.shape[1] * dy.columns();
    for (std::int64_t sample = 0; sample < dy.shape[0]; ++sample) {
        add({dy.data + sample * size, {size}}, {dtable.row(first_position), {size}});
    }
}

}  // namespace debubble::exec::loops
