#include "exec/cpu/fixed_order/heads.h"

#include <algorithm>

namespace debubble::exec::fixed_order {

namespace {

/// The first element of row `row` of a sample in [samples, rows, ...], and the number of its
/// elements.
struct Rows {
    std::int64_t samples;
    std::int64_t rows;
    std::int64_t width;

    explicit Rows(const Shape& shape)
        : samples(shape[0]), rows(shape[1]), width(shape.elements() / (samples * rows)) {}
    std::int64_t at(std::int64_t sample, std::int64_t row) const {
        return (sample * rows + row) * width;
    }
};

}  // namespace

template <Real T>
void store_rows(std::int64_t first_row, In<T> slice, Out<T> whole) {
    const Rows part(slice.shape);
    const Rows all(whole.shape);
    assert(part.width == all.width && first_row + part.rows <= all.rows && "the slice fits");
    for (std::int64_t sample = 0; sample < part.samples; ++sample) {
        std::copy_n(slice.data + part.at(sample, 0), part.rows * part.width,
                    whole.data + all.at(sample, first_row));
    }
}

template <Real T>
void load_rows(std::int64_t first_row, In<T> whole, Out<T> slice) {
    const Rows part(slice.shape);
    const Rows all(whole.shape);
    assert(part.width == all.width && first_row + part.rows <= all.rows && "the slice fits");
    for (std::int64_t sample = 0; sample < part.samples; ++sample) {
        std::copy_n(whole.data + all.at(sample, first_row), part.rows * part.width,
                    slice.data + part.at(sample, 0));
    }
}

template <Real T>
void split_heads_forward(std::int64_t first_row, In<T> packed, Out<T> q, Out<T> k, Out<T> v) {
    const Rows from(packed.shape);
    const Rows queries(q.shape);
    const Rows keys(k.shape);
    assert(from.width == queries.width + 2 * keys.width && "packed is [q, k, v] side by side");
    for (std::int64_t sample = 0; sample < from.samples; ++sample) {
        for (std::int64_t row = 0; row < from.rows; ++row) {
            const T* source = packed.data + from.at(sample, row);
            const std::int64_t key = keys.at(sample, first_row + row);
            std::copy_n(source, queries.width, q.data + queries.at(sample, row));
            std::copy_n(source + queries.width, keys.width, k.data + key);
            std::copy_n(source + queries.width + keys.width, keys.width, v.data + key);
        }
    }
}

template <Real T>
void split_heads_backward_input(std::int64_t first_row, In<T> dq, In<T> dk, In<T> dv,
                                Out<T> dpacked) {
    const Rows to(dpacked.shape);
    const Rows queries(dq.shape);
    const Rows keys(dk.shape);
    assert(to.width == queries.width + 2 * keys.width && "packed is [q, k, v] side by side");
    for (std::int64_t sample = 0; sample < to.samples; ++sample) {
        for (std::int64_t row = 0; row < to.rows; ++row) {
            T* target = dpacked.data + to.at(sample, row);
            const std::int64_t key = keys.at(sample, first_row + row);
            std::copy_n(dq.data + queries.at(sample, row), queries.width, target);
            std::copy_n(dk.data + key, keys.width, target + queries.width);
            std::copy_n(dv.data + key, keys.width, target + queries.width + keys.width);
        }
    }
}

#define INSTANTIATE(T)                                                                 \
    template void store_rows<T>(std::int64_t, In<T>, Out<T>);                          \
    template void load_rows<T>(std::int64_t, In<T>, Out<T>);                           \
    template void split_heads_forward<T>(std::int64_t, In<T>, Out<T>, Out<T>, Out<T>); \
    template void split_heads_backward_input<T>(std::int64_t, In<T>, In<T>, In<T>, Out<T>);
INSTANTIATE(float)
INSTANTIATE(double)
#undef INSTANTIATE

}  // namespace debubble::exec::fixed_order
