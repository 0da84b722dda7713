#include "exec/cpu/fixed_order/rope.h"

#include <cmath>

#include "exec/cpu/fixed_order/vectorise.h"

namespace debubble::exec::fixed_order {

namespace {

/// `direction` is 1, or -1 to rotate back.
template <class T>
void rotate(std::int64_t first_position, In<T> cosines, In<T> sines, T direction, View<T> x) {
    assert(x.shape.rank() == 4 && "x [samples, rows, heads, head_dim]");
    const std::int64_t rows = x.shape[1];
    const std::int64_t heads = x.shape[2];
    const std::int64_t half = x.columns() / 2;
    assert(x.columns() % 2 == 0 && cosines.columns() == half && "a head is made of pairs");
    assert(first_position + rows <= cosines.rows() && "the table has all positions");
    vectorised([=]() DEBUBBLE_INLINE {
        for (std::int64_t line = 0; line < x.rows(); ++line) {
            const std::int64_t position = first_position + line / heads % rows;
            const T* cosine = cosines.row(position);
            const T* sine = sines.row(position);
            T* low = x.row(line);
            T* high = low + half;
            for (std::int64_t i = 0; i < half; ++i) {
                const T turn = direction * sine[i];
                const T before = low[i];
                low[i] = before * cosine[i] - high[i] * turn;
                high[i] = high[i] * cosine[i] + before * turn;
            }
        }
    });
}

}  // namespace

template <Real T>
void rope_forward(std::int64_t first_position, In<T> cosines, In<T> sines, Out<T> x) {
    rotate<T>(first_position, cosines, sines, T{1}, x);
}

template <Real T>
void rope_backward_input(std::int64_t first_position, In<T> cosines, In<T> sines, Out<T> dx) {
    rotate<T>(first_position, cosines, sines, T{-1}, dx);
}

#define INSTANTIATE(T)                                                 \
    template void rope_forward<T>(std::int64_t, In<T>, In<T>, Out<T>); \
    template void rope_backward_input<T>(std::int64_t, In<T>, In<T>, Out<T>);
INSTANTIATE(float)
INSTANTIATE(double)
#undef INSTANTIATE

}  // namespace debubble::exec::fixed_order
