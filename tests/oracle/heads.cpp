#include <cmath>

#include "tests/oracle/array.h"
#include "tests/oracle/oracle.h"

/// What is done to heads around attention: norms, latent attention's heads, sinks.
namespace debubble::exec {

/// y = x / sqrt(mean(x^2) + eps) * gain over the columns of each head.
void Oracle::head_norm_forward(double eps, const HeadRun& run, ConstTensorView gain, TensorView x,
                               TensorView kept, TensorView statistics) {
    const std::int64_t tokens = rows_of(x), width = run.head_dim;
    const auto in_place = write(x, {tokens, x.shape.columns()});
    const auto before = write(kept, {tokens, kept.shape.columns()});
    const auto factors = write(statistics, {tokens, statistics.shape.columns()});
    for (std::int64_t t = 0; t < tokens; ++t)
        for (std::int64_t h = 0; h < run.heads; ++h) {
            const std::int64_t first = run.column(h), kept_first = run.kept_column(h);
            double mean = 0;
            for (std::int64_t j = 0; j < width; ++j) {
                before(t, kept_first + j) = in_place(t, first + j);
                mean += before(t, kept_first + j) * before(t, kept_first + j) / double(width);
            }
            const double factor = 1 / std::sqrt(mean + eps);
            factors(t, run.first_head + h) = factor;
            for (std::int64_t j = 0; j < width; ++j)
                in_place(t, first + j) =
                    before(t, kept_first + j) * factor * (gain ? read(gain, {width})(j) : 1);
        }
}

/// With s = 1 / sqrt(mean(x^2) + eps) and g = dy * gain: dx = s (g - x s^2 mean(g x)); dgain += dy
/// x s.
void Oracle::head_norm_backward(const HeadRun& run, ConstTensorView gain, ConstTensorView kept,
                                ConstTensorView statistics, TensorView dx, TensorView dgain) {
    const std::int64_t tokens = rows_of(dx), width = run.head_dim;
    const auto in_place = write(dx, {tokens, dx.shape.columns()});
    const auto before = read(kept, {tokens, kept.shape.columns()});
    const auto factors = read(statistics, {tokens, statistics.shape.columns()});
    for (std::int64_t t = 0; t < tokens; ++t)
        for (std::int64_t h = 0; h < run.heads; ++h) {
            const std::int64_t first = run.column(h), kept_first = run.kept_column(h);
            const double factor = factors(t, run.first_head + h);
            double mean = 0;
            for (std::int64_t j = 0; j < width; ++j) {
                double& g = in_place(t, first + j);
                if (dgain) write(dgain, {width})(j) += g * before(t, kept_first + j) * factor;
                if (gain) g *= read(gain, {width})(j);
                mean += g * before(t, kept_first + j) / double(width);
            }
            for (std::int64_t j = 0; j < width; ++j) {
                const double pull = before(t, kept_first + j) * factor * factor * mean;
                in_place(t, first + j) = factor * (in_place(t, first + j) - pull);
            }
        }
}

/// The sum of x^2 over a run's columns.
void Oracle::width_norm_sums(const HeadRun& run, ConstTensorView x, TensorView sums) {
    const std::int64_t tokens = rows_of(x);
    const auto in = read(x, {tokens, x.shape.columns()});
    const auto out = write(sums, {tokens, sums.shape.columns()});
    for (std::int64_t t = 0; t < tokens; ++t) {
        double sum = 0;
        for (std::int64_t j = 0; j < run.heads * run.head_dim; ++j)
            sum += in(t, run.first_column + j) * in(t, run.first_column + j);
        out(t, run.first_head) = sum;
    }
}

/// y = x / sqrt(sum / columns + eps) * gain.
void Oracle::width_norm_forward(double eps, std::int64_t columns, const HeadRun& run,
                                ConstTensorView gain, ConstTensorView sums, TensorView x,
                                TensorView kept, TensorView statistics) {
    const std::int64_t tokens = rows_of(x), width = run.heads * run.head_dim;
    const auto in_place = write(x, {tokens, x.shape.columns()});
    const auto before = write(kept, {tokens, kept.shape.columns()});
    const auto factors = write(statistics, {tokens, statistics.shape.columns()});
    const auto sum = read(sums, {tokens, sums.shape.columns()}), w = read(gain, {width});
    for (std::int64_t t = 0; t < tokens; ++t) {
        const double factor = 1 / std::sqrt(sum(t, run.first_head) / double(columns) + eps);
        factors(t, run.first_head) = factor;
        for (std::int64_t j = 0; j < width; ++j) {
            double& value = in_place(t, run.first_column + j);
            before(t, run.first_column + j) = value;
            value *= factor * w(j);
        }
    }
}

/// The sum of dy gain x over a run's columns.
void Oracle::width_norm_gradient_sums(const HeadRun& run, ConstTensorView gain,
                                      ConstTensorView kept, ConstTensorView dy, TensorView sums) {
    const std::int64_t tokens = rows_of(dy), width = run.heads * run.head_dim;
    const auto above = read(dy, {tokens, dy.shape.columns()}), w = read(gain, {width});
    const auto before = read(kept, {tokens, kept.shape.columns()});
    const auto out = write(sums, {tokens, sums.shape.columns()});
    for (std::int64_t t = 0; t < tokens; ++t) {
        double sum = 0;
        for (std::int64_t j = 0; j < width; ++j)
            sum += above(t, run.first_column + j) * w(j) * before(t, run.first_column + j);
        out(t, run.first_head) = sum;
    }
}

/// dx = s (dy gain - x s^2 sum / columns); dgain += dy x s.
void Oracle::width_norm_backward(std::int64_t columns, const HeadRun& run, ConstTensorView gain,
                                 ConstTensorView kept, ConstTensorView statistics,
                                 ConstTensorView sums, TensorView dx, TensorView dgain) {
    const std::int64_t tokens = rows_of(dx), width = run.heads * run.head_dim;
    const auto in_place = write(dx, {tokens, dx.shape.columns()}), dw = write(dgain, {width});
    const auto before = read(kept, {tokens, kept.shape.columns()}), w = read(gain, {width});
    const auto factors = read(statistics, {tokens, statistics.shape.columns()});
    const auto sum = read(sums, {tokens, sums.shape.columns()});
    for (std::int64_t t = 0; t < tokens; ++t) {
        const double s = factors(t, run.first_head);
        const double mean = sum(t, run.first_head) / double(columns);
        for (std::int64_t j = 0; j < width; ++j) {
            double& g = in_place(t, run.first_column + j);
            const double x = before(t, run.first_column + j);
            dw(j) += g * x * s;
            g = s * (g * w(j) - x * s * s * mean);
        }
    }
}

void Oracle::grow_queries(const QueryGrowth& how, TensorView x) {
    const auto in_place = write(x, x.shape);
    for (std::int64_t s = 0; s < x.shape[0]; ++s)
        for (std::int64_t r = 0; r < x.shape[1]; ++r)
            for (std::int64_t h = 0; h < how.heads; ++h)
                for (std::int64_t d = 0; d < x.shape[3]; ++d) {
                    const double position = double(how.first_position + r);
                    in_place(s, r, h, d) *=
                        1 + how.scale * std::log(1 + std::floor((position + 1) / how.floor));
                }
}

namespace {

/// The sizes of latent attention's heads, by the shapes of q and v and by the angles of a row.
struct Latent {
    std::int64_t samples, rows, heads, own, values, half;
    Latent(const Shape& q, const Shape& v, std::int64_t angles)
        : samples(q[0]),
          rows(q[1]),
          heads(q[2]),
          own(q[3] - 2 * angles),
          values(v[3]),
          half(angles) {}
    Shape keys() const { return {samples, rows, heads, own + 2 * half}; }
    Shape of_values() const { return {samples, rows, heads, values}; }
    Shape pairs() const { return {samples, rows, heads, own + values}; }

    template <class Body>
    void each_row(const Body& body) const {
        for (std::int64_t s = 0; s < samples; ++s)
            for (std::int64_t r = 0; r < rows; ++r) body(s, r);
    }
};

}  // namespace

void Oracle::latent_heads_forward(std::int64_t first_position, ConstTensorView cosines,
                                  ConstTensorView sines, ConstTensorView queries,
                                  ConstTensorView keys_values, ConstTensorView shared, TensorView q,
                                  TensorView k, TensorView v) {
    const Latent all(q.shape, v.shape, cosines.shape.columns());
    const std::int64_t last = shared.shape.columns() - 2 * all.half;
    const auto from = read(queries, all.keys()), pairs = read(keys_values, all.pairs());
    const auto of_all = read(shared, {all.samples, all.rows, shared.shape.columns()});
    const auto to_q = write(q, all.keys()), to_k = write(k, all.keys());
    const auto to_v = write(v, all.of_values());
    all.each_row([&](std::int64_t s, std::int64_t r) {
        for (std::int64_t h = 0; h < all.heads; ++h) {
            for (std::int64_t j = 0; j < all.own; ++j) {
                to_q(s, r, h, j) = from(s, r, h, j);
                to_k(s, r, h, j) = pairs(s, r, h, j);
            }
            for (std::int64_t j = 0; j < 2 * all.half; ++j) {
                to_q(s, r, h, all.own + j) = from(s, r, h, all.own + j);
                to_k(s, r, h, all.own + j) = of_all(s, r, last + j);
            }
            for (std::int64_t j = 0; j < all.values; ++j)
                to_v(s, r, h, j) = pairs(s, r, h, all.own + j);
        }
    });
    const Rotary how{first_position, all.heads, all.own, RotaryPairs::Neighbours};
    rope_forward(how, cosines, sines, q);
    rope_forward(how, cosines, sines, k);
}

void Oracle::latent_heads_backward_input(std::int64_t first_position, ConstTensorView cosines,
                                         ConstTensorView sines, ConstTensorView dq,
                                         ConstTensorView dk, ConstTensorView dv,
                                         TensorView dqueries, TensorView dkeys_values,
                                         TensorView dshared) {
    const Latent all(dq.shape, dv.shape, cosines.shape.columns());
    const std::int64_t last = dshared.shape.columns() - 2 * all.half;
    const Tensor turned_q(dq.shape, DataType::Fp64), turned_k(dk.shape, DataType::Fp64);
    copy(dq, turned_q.view());
    copy(dk, turned_k.view());
    const Rotary how{first_position, all.heads, all.own, RotaryPairs::Neighbours};
    rope_backward_input(how, cosines, sines, turned_q.view());
    rope_backward_input(how, cosines, sines, turned_k.view());
    copy(turned_q.view(), dqueries);
    const auto of_k = read(turned_k.view(), all.keys()), of_v = read(dv, all.of_values());
    const auto pairs = write(dkeys_values, all.pairs());
    const auto of_all = write(dshared, {all.samples, all.rows, dshared.shape.columns()});
    all.each_row([&](std::int64_t s, std::int64_t r) {
        for (std::int64_t j = 0; j < 2 * all.half; ++j) of_all(s, r, last + j) = 0;
        for (std::int64_t h = 0; h < all.heads; ++h) {
            for (std::int64_t j = 0; j < all.own; ++j) pairs(s, r, h, j) = of_k(s, r, h, j);
            for (std::int64_t j = 0; j < all.values; ++j)
                pairs(s, r, h, all.own + j) = of_v(s, r, h, j);
            for (std::int64_t j = 0; j < 2 * all.half; ++j)
                of_all(s, r, last + j) += of_k(s, r, h, all.own + j);
        }
    });
}

/// With S the sum of the scores' exponentials and e = exp(sink): out S / (S + e), log(S + e).
void Oracle::sinks_forward(ConstTensorView sinks, TensorView out, TensorView log_sum) {
    const std::int64_t samples = out.shape[0], rows = out.shape[1], heads = out.shape[2];
    const auto sink = read(sinks, {heads});
    const auto result = write(out, out.shape), logs = write(log_sum, {samples, heads, rows});
    for (std::int64_t s = 0; s < samples; ++s)
        for (std::int64_t h = 0; h < heads; ++h)
            for (std::int64_t r = 0; r < rows; ++r) {
                const double sum = std::exp(logs(s, h, r)), all = sum + std::exp(sink(h));
                logs(s, h, r) = std::log(all);
                for (std::int64_t d = 0; d < out.shape[3]; ++d) result(s, r, h, d) *= sum / all;
            }
}

/// The sink's probability is p = exp(sink - log_sum), and the gradient of its score -p (dout out).
void Oracle::sinks_backward_weight(ConstTensorView dout, ConstTensorView out,
                                   ConstTensorView log_sum, ConstTensorView sinks,
                                   TensorView dsinks) {
    const std::int64_t samples = out.shape[0], rows = out.shape[1], heads = out.shape[2];
    const auto sink = read(sinks, {heads}), above = read(dout, out.shape);
    const auto result = read(out, out.shape), logs = read(log_sum, {samples, heads, rows});
    const auto gradient = write(dsinks, {heads});
    for (std::int64_t s = 0; s < samples; ++s)
        for (std::int64_t h = 0; h < heads; ++h)
            for (std::int64_t r = 0; r < rows; ++r)
                for (std::int64_t d = 0; d < out.shape[3]; ++d)
                    gradient(h) -=
                        std::exp(sink(h) - logs(s, h, r)) * above(s, r, h, d) * result(s, r, h, d);
}

}  // namespace debubble::exec
