#include "exec/core/kernels/attention.h"
#include "exec/cpu/fp32_operands.h"
#include "exec/cpu/loops/attention/heads.h"
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

/// The rotation of one row of x [samples, rows, heads, head_dim].
Rotary of_row(Rotary how, std::int64_t row, const Shape& x) {
    how.first_position += row % x[1];
    return how;
}

View<float> row_of_heads(const View<float>& rows, std::int64_t row, const Shape& x) {
    return {rows.row(row), {1, 1, x[2], x[3]}};
}

/// The rows of latent attention's operands, by the shapes of q and v.
struct LatentRows {
    std::int64_t first_position;
    ConstTensorView cosines, sines;
    Shape q, v;

    std::int64_t count() const { return q[0] * q[1]; }
    std::int64_t width() const { return q[2] * q[3]; }
    std::int64_t rotated_columns() const { return 2 * cosines.shape.columns(); }
    View<const float> angle(const ConstTensorView& table, std::int64_t row) const {
        return {table.as<float>().row(first_position + row % q[1]), {table.shape.columns()}};
    }
    View<const float> cosine(std::int64_t row) const { return angle(cosines, row); }
    View<const float> sine(std::int64_t row) const { return angle(sines, row); }

    template <class T>
    View<T> keys(const View<T>& rows, std::int64_t row) const {
        return {rows.row(row), {q[2], q[3]}};
    }
    template <class T>
    View<T> values(const View<T>& rows, std::int64_t row) const {
        return {rows.row(row), {v[2], v[3]}};
    }
    template <class T>
    View<T> pairs(const View<T>& rows, std::int64_t row) const {
        return {rows.row(row), {q[2], q[3] - rotated_columns() + v[3]}};
    }
    template <class T>
    View<T> rotated(const View<T>& rows, std::int64_t row) const {
        const std::int64_t columns = rotated_columns();
        return {rows.row(row) + rows.columns() - columns, {columns}};
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

void CpuOperators::rope_forward(const Rotary& how, ConstTensorView cosines, ConstTensorView sines,
                                TensorView x) {
    assert(x.shape.rank() == 4 && "x [samples, rows, heads, head_dim]");
    const std::int64_t width = x.shape[2] * x.shape[3];
    walk_(x.shape[0] * x.shape[1], width, [&](Fp32Operands& use, Rows rows) {
        const View<float> block = use.changed(rows.of(x));
        for (std::int64_t i = 0; i < rows.count; ++i)
            loops::rope_forward(of_row(how, rows.first + i, x.shape), cosines.as<float>(),
                                sines.as<float>(), row_of_heads(block, i, x.shape));
    });
}

void CpuOperators::rope_backward_input(const Rotary& how, ConstTensorView cosines,
                                       ConstTensorView sines, TensorView dx) {
    assert(dx.shape.rank() == 4 && "dx [samples, rows, heads, head_dim]");
    const std::int64_t width = dx.shape[2] * dx.shape[3];
    walk_(dx.shape[0] * dx.shape[1], width, [&](Fp32Operands& use, Rows rows) {
        const View<float> block = use.changed(rows.of(dx));
        for (std::int64_t i = 0; i < rows.count; ++i)
            loops::rope_backward_input(of_row(how, rows.first + i, dx.shape), cosines.as<float>(),
                                       sines.as<float>(), row_of_heads(block, i, dx.shape));
    });
}

void CpuOperators::head_norm_forward(double eps, const HeadRun& run, ConstTensorView gain,
                                     TensorView x, TensorView kept, TensorView statistics) {
    Fp32Operands whole(scratch_);
    const auto weight = whole.in(gain);
    each_row(x, [&](Fp32Operands& use, Rows rows) {
        loops::head_norm_forward(eps, run, weight, use.changed(rows.of(x)),
                                 use.changed(rows.of(kept)), use.changed(rows.of(statistics)));
    });
}

void CpuOperators::head_norm_backward(const HeadRun& run, ConstTensorView gain,
                                      ConstTensorView kept, ConstTensorView statistics,
                                      TensorView dx, TensorView dgain) {
    Fp32Operands whole(scratch_);
    const auto weight = whole.in(gain);
    if (dgain) {
        const auto sum = whole.changed(dgain);
        walk_.in_order(rows_of(dx), dx.shape.columns(), [&](Fp32Operands& use, Rows rows) {
            loops::head_norm_backward_weight(run, use.in(rows.of(kept)),
                                             use.in(rows.of(statistics)),
                                             use.in(ConstTensorView(rows.of(dx))), sum);
        });
    }
    each_row(dx, [&](Fp32Operands& use, Rows rows) {
        loops::head_norm_backward_input(run, weight, use.in(rows.of(kept)),
                                        use.in(rows.of(statistics)), use.changed(rows.of(dx)));
    });
}

void CpuOperators::width_norm_sums(const HeadRun& run, ConstTensorView x, TensorView sums) {
    each_row(x, [&](Fp32Operands& use, Rows rows) {
        loops::width_norm_sums(run, use.in(rows.of(x)), use.changed(rows.of(sums)));
    });
}

void CpuOperators::width_norm_forward(double eps, std::int64_t columns, const HeadRun& run,
                                      ConstTensorView gain, ConstTensorView sums, TensorView x,
                                      TensorView kept, TensorView statistics) {
    Fp32Operands whole(scratch_);
    const auto weight = whole.in(gain);
    each_row(x, [&](Fp32Operands& use, Rows rows) {
        loops::width_norm_forward(eps, columns, run, weight, use.in(rows.of(sums)),
                                  use.changed(rows.of(x)), use.changed(rows.of(kept)),
                                  use.changed(rows.of(statistics)));
    });
}

void CpuOperators::width_norm_gradient_sums(const HeadRun& run, ConstTensorView gain,
                                            ConstTensorView kept, ConstTensorView dy,
                                            TensorView sums) {
    Fp32Operands whole(scratch_);
    const auto weight = whole.in(gain);
    each_row(dy, [&](Fp32Operands& use, Rows rows) {
        loops::width_norm_gradient_sums(run, weight, use.in(rows.of(kept)), use.in(rows.of(dy)),
                                        use.changed(rows.of(sums)));
    });
}

void CpuOperators::width_norm_backward(std::int64_t columns, const HeadRun& run,
                                       ConstTensorView gain, ConstTensorView kept,
                                       ConstTensorView statistics, ConstTensorView sums,
                                       TensorView dx, TensorView dgain) {
    Fp32Operands whole(scratch_);
    const auto weight = whole.in(gain);
    const auto sum = whole.changed(dgain);
    const ConstTensorView dy = dx;
    walk_.in_order(rows_of(dx), dx.shape.columns(), [&](Fp32Operands& use, Rows rows) {
        loops::width_norm_backward_weight(run, use.in(rows.of(kept)), use.in(rows.of(statistics)),
                                          use.in(rows.of(dy)), sum);
    });
    each_row(dx, [&](Fp32Operands& use, Rows rows) {
        loops::width_norm_backward_input(columns, run, weight, use.in(rows.of(kept)),
                                         use.in(rows.of(statistics)), use.in(rows.of(sums)),
                                         use.changed(rows.of(dx)));
    });
}

void CpuOperators::grow_queries(const QueryGrowth& how, TensorView x) {
    assert(x.shape.rank() == 4 && "x [samples, rows, heads, head_dim]");
    walk_(x.shape[0] * x.shape[1], x.shape[2] * x.shape[3], [&](Fp32Operands& use, Rows rows) {
        const View<float> block = use.changed(rows.of(x));
        for (std::int64_t i = 0; i < rows.count; ++i) {
            const std::int64_t position = how.first_position + (rows.first + i) % x.shape[1];
            const auto factor = static_cast<float>(how.factor(position));
            float* const row = block.row(i);
            for (std::int64_t j = 0; j < how.heads * x.shape[3]; ++j) row[j] *= factor;
        }
    });
}

void CpuOperators::latent_heads_forward(std::int64_t first_position, ConstTensorView cosines,
                                        ConstTensorView sines, ConstTensorView queries,
                                        ConstTensorView keys_values, ConstTensorView shared,
                                        TensorView q, TensorView k, TensorView v) {
    const LatentRows lines{first_position, cosines, sines, q.shape, v.shape};
    walk_(lines.count(), lines.width(), [&](Fp32Operands& use, Rows rows) {
        const auto from = use.in(rows.of(queries)), pairs = use.in(rows.of(keys_values));
        const auto rotated = use.in(rows.of(shared));
        const auto to_q = use.out(rows.of(q)), to_k = use.out(rows.of(k));
        const auto to_v = use.out(rows.of(v));
        for (std::int64_t i = 0; i < rows.count; ++i)
            loops::latent_heads_forward(lines.cosine(rows.first + i), lines.sine(rows.first + i),
                                        lines.keys(from, i), lines.pairs(pairs, i),
                                        lines.rotated(rotated, i), lines.keys(to_q, i),
                                        lines.keys(to_k, i), lines.values(to_v, i));
    });
}

void CpuOperators::latent_heads_backward_input(std::int64_t first_position, ConstTensorView cosines,
                                               ConstTensorView sines, ConstTensorView dq,
                                               ConstTensorView dk, ConstTensorView dv,
                                               TensorView dqueries, TensorView dkeys_values,
                                               TensorView dshared) {
    const LatentRows lines{first_position, cosines, sines, dq.shape, dv.shape};
    walk_(lines.count(), lines.width(), [&](Fp32Operands& use, Rows rows) {
        const auto of_q = use.in(rows.of(dq)), of_k = use.in(rows.of(dk));
        const auto of_v = use.in(rows.of(dv));
        const auto to = use.out(rows.of(dqueries)), pairs = use.out(rows.of(dkeys_values));
        const auto rotated = use.changed(rows.of(dshared));
        for (std::int64_t i = 0; i < rows.count; ++i)
            loops::latent_heads_backward_input(
                lines.cosine(rows.first + i), lines.sine(rows.first + i), lines.keys(of_q, i),
                lines.keys(of_k, i), lines.values(of_v, i), lines.keys(to, i),
                lines.pairs(pairs, i), lines.rotated(rotated, i));
    });
}

void CpuOperators::sinks_forward(ConstTensorView sinks, TensorView out, TensorView log_sum) {
    Fp32Operands use(scratch_);
    loops::sinks_forward(use.in(sinks), use.changed(out), use.changed(log_sum));
}

void CpuOperators::sinks_backward_weight(ConstTensorView dout, ConstTensorView out,
                                         ConstTensorView log_sum, ConstTensorView sinks,
                                         TensorView dsinks) {
    Fp32Operands use(scratch_);
    loops::sinks_backward_weight(use.in(dout), use.in(out), use.in(log_sum), use.in(sinks),
                                 use.changed(dsinks));
}

}  // namespace debubble::exec
