#include "exec/cpu/loops/elements.h"

#include <algorithm>

namespace debubble::exec::loops {

void join_columns(int parts, In gathered, Out x) {
    assert(gathered.size() == x.size() && x.columns() % parts == 0 && "parts are equal");
    const std::int64_t width = x.columns() / parts;
    const float* from = gathered.data;
    for (int part = 0; part < parts; ++part) {
        for (std::int64_t row = 0; row < x.rows(); ++row, from += width) {
            std::copy_n(from, width, x.row(row) + part * width);
        }
    }
}

void take_columns(int part, int parts, In x, Out y) {
    assert(part >= 0 && part < parts && y.size() * parts == x.size() && "parts are equal");
    const std::int64_t width = x.columns() / parts;
    for (std::int64_t row = 0; row < x.rows(); ++row) {
        std::copy_n(x.row(row) + part * width, width, y.data + row * width);
    }
}

}  // namespace debubble::exec::loops
