#include "exec/cpu/fixed_order/embedding.h"

#include <algorithm>

#include "exec/cpu/fixed_order/residual.h"

namespace debubble::exec::fixed_order {

template <Real T>
void token_embedding_forward(View<const std::int32_t> tokens, std::int64_t first_entry, In<T> table,
                             Out<T> y) {
    assert(y.rows() == tokens.size() && y.columns() == table.columns() && "y [tokens, hidden]");
    for (std::int64_t i = 0; i < tokens.size(); ++i) {
        const std::int64_t entry = tokens[i] - first_entry;
        if (entry < 0 || entry >= table.rows()) {
            std::fill_n(y.row(i), y.columns(), T{});
        } else {
            std::copy_n(table.row(entry), y.columns(), y.row(i));
        }
    }
}

template <Real T>
void token_embedding_backward_weight(View<const std::int32_t> tokens, std::int64_t first_entry,
                                     In<T> dy, Out<T> dtable) {
    assert(dy.rows() == tokens.size() && dy.columns() == dtable.columns() && "dy [tokens, hidden]");
    const std::int64_t hidden = dy.columns();
    for (std::int64_t i = 0; i < tokens.size(); ++i) {
        const std::int64_t entry = tokens[i] - first_entry;
        if (entry < 0 || entry >= dtable.rows()) continue;
        add<T>({dy.row(i), {hidden}}, {dtable.row(entry), {hidden}});
    }
}

template <Real T>
void position_embedding_forward(std::int64_t first_position, In<T> x, In<T> table, Out<T> y) {
    assert(x.shape.rank() == 3 && x.size() == y.size() && "x, y [samples, rows, hidden]");
    assert(first_position + x.shape[1] <= table.rows() && "the table has all positions");
    const std::int64_t size = x.shape[1] * x.columns();
    const T* positions = table.row(first_position);
    for (std::int64_t sample = 0; sample < x.shape[0]; ++sample) {
        residual_forward<T>({x.data + sample * size, {size}}, {positions, {size}},
                            {y.data + sample * size, {size}});
    }
}

template <Real T>
void position_embedding_backward_weight(std::int64_t first_position, In<T> dy, Out<T> dtable) {
    assert(dy.shape.rank() == 3 && "dy [samples, rows, hidden]");
    assert(first_position + dy.shape[1] <= dtable.rows() && "the table has all positions");
    const std::int64_t size = dy.shape[1] * dy.columns();
    for (std::int64_t sample = 0; sample < dy.shape[0]; ++sample) {
        add<T>({dy.data + sample * size, {size}}, {dtable.row(first_position), {size}});
    }
}

#define INSTANTIATE(T)                                                                       \
    template void token_embedding_forward<T>(View<const std::int32_t>, std::int64_t, In<T>,  \
                                             Out<T>);                                        \
    template void token_embedding_backward_weight<T>(View<const std::int32_t>, std::int64_t, \
                                                     In<T>, Out<T>);                         \
    template void position_embedding_forward<T>(std::int64_t, In<T>, In<T>, Out<T>);         \
    template void position_embedding_backward_weight<T>(std::int64_t, In<T>, Out<T>);
INSTANTIATE(float)
INSTANTIATE(double)
#undef INSTANTIATE

}  // namespace debubble::exec::fixed_order
