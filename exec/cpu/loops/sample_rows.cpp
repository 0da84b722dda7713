#include "exec/cpu/loops/ends.h"

#include <algorithm>

namespace debubble::exec::loops {

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

void store_rows(std::int64_t first_row, In slice, Out whole) {
    const Rows part(slice.shape);
    const Rows all(whole.shape);
    assert(part.width == all.width && first_row + part.rows <= all.rows && "the slice fits");
    for (std::int64_t sample = 0; sample < part.samples; ++sample) {
        std::copy_n(slice.data + part.at(sample, 0), part.rows * part.width,
                    whole.data + all.at(sample, first_row));
    }
}

void load_rows(std::int64_t first_row, In whole, Out slice) {
    const Rows part(slice.shape);
    const Rows all(whole.shape);
    assert(part.width == all.width && first_row + part.rows <= all.rows && "the slice fits");
    for (std::int64_t sample = 0; sample < part.samples; ++sample) {
        std::copy_n(whole.data + all.at(sample, first_row), part.rows * part.width,
                    slice.data + part.at(sample, 0));
    }
}

}  // namespace debubble::exec::loops
