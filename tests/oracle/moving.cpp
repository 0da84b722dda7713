#include "tests/oracle/array.h"
#include "tests/oracle/oracle.h"

namespace debubble::exec {

void Oracle::join_columns(int parts, ConstTensorView gathered, TensorView x) {
    const std::int64_t rows = rows_of(x), width = x.shape.columns() / parts;
    const auto from = read(gathered, {parts, rows, width});
    const auto to = write(x, {rows, parts, width});
    for (std::int64_t p = 0; p < parts; ++p)
        for (std::int64_t r = 0; r < rows; ++r)
            for (std::int64_t j = 0; j < width; ++j) to(r, p, j) = from(p, r, j);
}

void Oracle::take_columns(int part, int parts, ConstTensorView x, TensorView y) {
    const std::int64_t rows = rows_of(x), width = x.shape.columns() / parts;
    const auto from = read(x, {rows, parts, width});
    const auto to = write(y, {rows, width});
    for (std::int64_t r = 0; r < rows; ++r)
        for (std::int64_t j = 0; j < width; ++j) to(r, j) = from(r, part, j);
}

void Oracle::fill_zero(TensorView x) {
    const std::int64_t count = x.shape.elements();
    const auto out = write(x, {count});
    for (std::int64_t i = 0; i < count; ++i) out(i) = 0;
}

void Oracle::copy(ConstTensorView from, TensorView to) {
    const std::int64_t count = from.shape.elements();
    const auto in = read(from, {count});
    const auto out = write(to, {count});
    for (std::int64_t i = 0; i < count; ++i) out(i) = in(i);
}

}  // namespace debubble::exec
