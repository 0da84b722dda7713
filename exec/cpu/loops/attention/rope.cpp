#include "exec/cpu/loops/attention/heads.h"

#include <cmath>

#include "exec/cpu/vectorise.h"

namespace debubble::exec::loops {

namespace {

/// Rotates pairs that lie `half` columns apart.
DEBUBBLE_INLINE inline void turn_halves(std::int64_t half, const float* cosine, const float* sine,
                                        float direction, float* low) {
    float* high = low + half;
    for (std::int64_t i = 0; i < half; ++i) {
        const float turn = direction * sine[i];
        const float before = low[i];
        low[i] = before * cosine[i] - high[i] * turn;
        high[i] = high[i] * cosine[i] + before * turn;
    }
}

/// `direction` is 1, or -1 to rotate back.
void rotate(const Rotary& how, In cosines, In sines, float direction, Out x) {
    assert(x.shape.rank() == 4 && how.heads <= x.shape[2] && "x [samples, rows, heads, head_dim]");
    const std::int64_t rows = x.shape[1], all_heads = x.shape[2], half = cosines.columns();
    assert(how.first_column + 2 * half <= x.columns() && "a head has all rotated columns");
    assert(how.first_position + rows <= cosines.rows() && "the table has all positions");
    const bool halves = how.pairs == RotaryPairs::Halves;
    vectorised([=]() DEBUBBLE_INLINE {
        for (std::int64_t line = 0; line < x.shape[0] * rows; ++line) {
            const float* cosine = cosines.row(how.first_position + line % rows);
            const float* sine = sines.row(how.first_position + line % rows);
            for (std::int64_t head = 0; head < how.heads; ++head) {
                float* columns = x.row(line * all_heads + head) + how.first_column;
                if (halves)
                    turn_halves(half, cosine, sine, direction, columns);
                else
                    turn_neighbours(half, cosine, sine, direction, columns, columns);
            }
        }
    });
}

}  // namespace

void turn_neighbours(std::int64_t count, const float* cosine, const float* sine, float direction,
                     const float* x, float* y) {
    for (std::int64_t i = 0; i < count; ++i) {
        const float turn = direction * sine[i];
        const float a = x[2 * i], b = x[2 * i + 1];
        y[2 * i] = a * cosine[i] - b * turn;
        y[2 * i + 1] = b * cosine[i] + a * turn;
    }
}

void rope_forward(const Rotary& how, In cosines, In sines, Out x) {
    rotate(how, cosines, sines, 1.F, x);
}

void rope_backward_input(const Rotary& how, In cosines, In sines, Out dx) {
    rotate(how, cosines, sines, -1.F, dx);
}

}  // namespace debubble::exec::loops
