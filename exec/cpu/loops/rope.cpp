#include "exec/cpu/loops/rope.h"

#include <cmath>

#include "exec/cpu/vectorise.h"

namespace debubble::exec::loops {

namespace {

/// `direction` is 1, or -1 to rotate back.
void rotate(std::int64_t first_position, In cosines, In sines, float direction, Out x) {
    assert(x.shape.rank() == 4 && "x [samples, rows, heads, head_dim]");
    const std::int64_t rows = x.shape[1];
    const std::int64_t heads = x.shape[2];
    const std::int64_t half = x.columns() / 2;
    assert(x.columns() % 2 == 0 && cosines.columns() == half && "a head is made of pairs");
    assert(first_position + rows <= cosines.rows() && "the table has all positions");
    vectorised([=]() DEBUBBLE_INLINE {
        for (std::int64_t line = 0; line < x.rows(); ++line) {
            const std::int64_t position = first_position + line / heads % rows;
            const float* cosine = cosines.row(position);
            const float* sine = sines.row(position);
            float* low = x.row(line);
            float* high = low + half;
            for (std::int64_t i = 0; i < half; ++i) {
                const float turn = direction * sine[i];
                const float before = low[i];
                low[i] = before * cosine[i] - high[i] * turn;
                high[i] = high[i] * cosine[i] + before * turn;
            }
        }
    });
}

}  // namespace

void rope_forward(std::int64_t first_position, In cosines, In sines, Out x) {
    rotate(first_position, cosines, sines, 1.F, x);
}

void rope_backward_input(std::int64_t first_position, In cosines, In sines, Out dx) {
    rotate(first_position, cosines, sines, -1.F, dx);
}

}  // namespace debubble::exec::loops
