#include "exec/cpu/fixed_order/columns.h"

#include <algorithm>

namespace debubble::exec::fixed_order {

template <Real T>
void join_columns(int parts, In<T> gathered, Out<T> x) {
    assert(gathered.size() == x.size() && x.columns() % parts == 0 && "parts are alike");
    const std::int64_t width = x.columns() / parts;
    const T* from = gathered.data;
    for (int part = 0; part < parts; ++part) {
        for (std::int64_t row = 0; row < x.rows(); ++row, from += width) {
            std::copy_n(from, width, x.row(row) + part * width);
        }
    }
}

template <Real T>
void take_columns(int part, int parts, In<T> x, Out<T> y) {
    assert(part >= 0 && part < parts && y.size() * parts == x.size() && "parts are alike");
    const std::int64_t width = x.columns() / parts;
    for (std::int64_t row = 0; row < x.rows(); ++row) {
        std::copy_n(x.row(row) + part * width, width, y.data + row * width);
    }
}

#define INSTANTIATE(T)                                 \
    template void join_columns<T>(int, In<T>, Out<T>); \
    template void take_columns<T>(int, int, In<T>, Out<T>);
INSTANTIATE(float)
INSTANTIATE(double)
#undef INSTANTIATE

}  // namespace debubble::exec::fixed_order
