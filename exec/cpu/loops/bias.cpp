#include "exec/cpu/loops/elements.h"

#include "exec/cpu/vectorise.h"

namespace debubble::exec::loops {

void add_bias(In bias, Out y) {
    assert(bias.size() == y.columns() && "one bias per output");
    const std::int64_t columns = y.columns();
    vectorised([=]() DEBUBBLE_INLINE {
        for (std::int64_t row = 0; row < y.rows(); ++row) {
            float* to = y.row(row);
            for (std::int64_t j = 0; j < columns; ++j) to[j] += bias[j];
        }
    });
}

void add_rows(In x, Out total) {
    assert(total.size() == x.columns() && "one sum per column");
    const std::int64_t columns = x.columns();
    vectorised([=]() DEBUBBLE_INLINE {
        for (std::int64_t row = 0; row < x.rows(); ++row) {
            const float* from = x.row(row);
            for (std::int64_t j = 0; j < columns; ++j) total[j] += from[j];
        }
    });
}

}  // namespace debubble::exec::loops
