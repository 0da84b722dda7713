#include "exec/core/packed_rows.h"
#include "exec/cpu/convert.h"
#include "exec/cpu/loops/rope.h"
#include "exec/cpu/operators/cpu_operators.h"

namespace debubble::exec {

namespace {

/// The packed rows, line after line over the samples.
struct PackedLines : PackedRows {
    using PackedRows::PackedRows;
    std::int64_t lines() const { return samples * rows; }
    std::int64_t key_row(std::int64_t line) const {
        return line / rows * all_rows + first_row + line % rows;
    }
};

}  // namespace

void CpuOperators::split_heads_forward(std::int64_t first_row, ConstTensorView packed, TensorView q,
                                       TensorView k, TensorView v) {
    const PackedLines widths(q, k, first_row);
    assert(packed.shape.elements() == widths.lines() * widths.width() && "[q, k, v] side by side");
    for (std::int64_t line = 0; line < widths.lines(); ++line) {
        const std::int64_t from = line * widths.width();
        const std::int64_t key = widths.key_row(line) * widths.key;
        convert(piece(packed, from, widths.query), piece(q, line * widths.query, widths.query));
        convert(piece(packed, from + widths.query, widths.key), piece(k, key, widths.key));
        convert(piece(packed, from + widths.query + widths.key, widths.key),
                piece(v, key, widths.key));
    }
}

void CpuOperators::split_heads_backward_input(std::int64_t first_row, ConstTensorView dq,
                                              ConstTensorView dk, ConstTensorView dv,
                                              TensorView dpacked) {
    const PackedLines widths(dq, dk, first_row);
    assert(dpacked.shape.elements() == widths.lines() * widths.width() && "[q, k, v] side by side");
    for (std::int64_t line = 0; line < widths.lines(); ++line) {
        const std::int64_t to = line * widths.width();
        const std::int64_t key = widths.key_row(line) * widths.key;
        convert(piece(dq, line * widths.query, widths.query), piece(dpacked, to, widths.query));
        convert(piece(dk, key, widths.key), piece(dpacked, to + widths.query, widths.key));
        convert(piece(dv, key, widths.key),
                piece(dpacked, to + widths.query + widths.key, widths.key));
    }
}

void CpuOperators::rope_forward(std::int64_t first_position, std::int64_t heads,
                                ConstTensorView cosines, ConstTensorView sines, TensorView x) {
    assert(x.shape.rank() == 4 && "x [samples, rows, heads, head_dim]");
    const std::int64_t width = x.shape[2] * x.shape[3];
    walk_(x.shape[0] * x.shape[1], width, [&](Fp32Operands& use, Rows rows) {
        const View<float> block = use.changed(rows.of(x));
        for (std::int64_t i = 0; i < rows.count; ++i) {
            loops::rope_forward(first_position + (rows.first + i) % x.shape[1], cosines.as<float>(),
                                sines.as<float>(),
                                View<float>{block.row(i), {1, 1, heads, x.shape[3]}});
        }
    });
}

void CpuOperators::rope_backward_input(std::int64_t first_position, std::int64_t heads,
                                       ConstTensorView cosines, ConstTensorView sines,
                                       TensorView dx) {
    assert(dx.shape.rank() == 4 && "dx [samples, rows, heads, head_dim]");
    const std::int64_t width = dx.shape[2] * dx.shape[3];
    walk_(dx.shape[0] * dx.shape[1], width, [&](Fp32Operands& use, Rows rows) {
        const View<float> block = use.changed(rows.of(dx));
        for (std::int64_t i = 0; i < rows.count; ++i) {
            loops::rope_backward_input(first_position + (rows.first + i) % dx.shape[1],
                                       cosines.as<float>(), sines.as<float>(),
                                       View<float>{block.row(i), {1, 1, heads, dx.shape[3]}});
        }
    });
}

}  // namespace debubble::exec
