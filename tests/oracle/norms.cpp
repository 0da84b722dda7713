#include <cmath>

#include "tests/oracle/array.h"
#include "tests/oracle/oracle.h"

namespace debubble::exec {

/// y = (x - mean) / sqrt(variance + eps) * weight + bias.
void Oracle::layer_norm_forward(double eps, ConstTensorView x, ConstTensorView weight,
                                ConstTensorView bias, TensorView y, TensorView statistics) {
    const std::int64_t tokens = rows_of(x), hidden = x.shape.columns();
    const auto in = read(x, {tokens, hidden});
    const auto w = read(weight, {hidden});
    const auto out = write(y, {tokens, hidden}), kept = write(statistics, {tokens, 2});
    for (std::int64_t t = 0; t < tokens; ++t) {
        double mean = 0, variance = 0;
        for (std::int64_t j = 0; j < hidden; ++j) mean += in(t, j) / double(hidden);
        for (std::int64_t j = 0; j < hidden; ++j)
            variance += (in(t, j) - mean) * (in(t, j) - mean) / double(hidden);
        kept(t, 0) = mean;
        kept(t, 1) = 1 / std::sqrt(variance + eps);
        for (std::int64_t j = 0; j < hidden; ++j)
            out(t, j) =
                (in(t, j) - mean) * kept(t, 1) * w(j) + (bias ? read(bias, {hidden})(j) : 0);
    }
}

/// With n = (x - mean) / deviation and g = dy * weight: dx = (g - mean(g) - n mean(g n)) /
/// deviation.
void Oracle::layer_norm_backward_input(ConstTensorView dy, ConstTensorView x,
                                       ConstTensorView weight, ConstTensorView statistics,
                                       TensorView dx, Write write_dx) {
    const std::int64_t tokens = rows_of(x), hidden = x.shape.columns();
    const auto in = read(x, {tokens, hidden}), dout = read(dy, {tokens, hidden});
    const auto w = read(weight, {hidden}), kept = read(statistics, {tokens, 2});
    const auto din = write(dx, {tokens, hidden});
    for (std::int64_t t = 0; t < tokens; ++t) {
        const auto normed = [&](std::int64_t j) { return (in(t, j) - kept(t, 0)) * kept(t, 1); };
        const auto g = [&](std::int64_t j) { return dout(t, j) * w(j); };
        double mean = 0, mean_with_normed = 0;
        for (std::int64_t j = 0; j < hidden; ++j) {
            mean += g(j) / double(hidden);
            mean_with_normed += g(j) * normed(j) / double(hidden);
        }
        for (std::int64_t j = 0; j < hidden; ++j) {
            const double before = write_dx == Write::Add ? din(t, j) : 0;
            din(t, j) = before + (g(j) - mean - normed(j) * mean_with_normed) * kept(t, 1);
        }
    }
}

void Oracle::layer_norm_backward_weight(ConstTensorView dy, ConstTensorView x,
                                        ConstTensorView statistics, TensorView dweight,
                                        TensorView dbias) {
    const std::int64_t tokens = rows_of(x), hidden = x.shape.columns();
    const auto in = read(x, {tokens, hidden}), dout = read(dy, {tokens, hidden});
    const auto kept = read(statistics, {tokens, 2});
    const auto dw = write(dweight, {hidden});
    for (std::int64_t t = 0; t < tokens; ++t)
        for (std::int64_t j = 0; j < hidden; ++j) {
            dw(j) += dout(t, j) * (in(t, j) - kept(t, 0)) * kept(t, 1);
            if (dbias) write(dbias, {hidden})(j) += dout(t, j);
        }
}

/// y = x / sqrt(mean(x^2) + eps) * weight.
void Oracle::rms_norm_forward(double eps, ConstTensorView x, ConstTensorView weight, TensorView y,
                              TensorView statistics) {
    const std::int64_t tokens = rows_of(x), hidden = y.shape.columns();
    const auto in = read(x, {tokens, x.shape.columns()}), w = read(weight, {hidden});
    const auto out = write(y, {tokens, hidden}), kept = write(statistics, {tokens});
    for (std::int64_t t = 0; t < tokens; ++t) {
        double mean = 0;
        for (std::int64_t j = 0; j < hidden; ++j) mean += in(t, j) * in(t, j) / double(hidden);
        kept(t) = 1 / std::sqrt(mean + eps);
        for (std::int64_t j = 0; j < hidden; ++j) out(t, j) = in(t, j) * kept(t) * w(j);
    }
}

/// With s = 1 / sqrt(mean(x^2) + eps) and g = dy * weight: dx = s (g - x s^2 mean(g x)).
void Oracle::rms_norm_backward_input(ConstTensorView dy, ConstTensorView x, ConstTensorView weight,
                                     ConstTensorView statistics, TensorView dx, Write write_dx) {
    const std::int64_t tokens = rows_of(x), hidden = dy.shape.columns();
    const auto in = read(x, {tokens, x.shape.columns()}), dout = read(dy, {tokens, hidden});
    const auto w = read(weight, {hidden}), kept = read(statistics, {tokens});
    const auto din = write(dx, {tokens, dx.shape.columns()});
    for (std::int64_t t = 0; t < tokens; ++t) {
        double mean = 0;
        for (std::int64_t j = 0; j < hidden; ++j)
            mean += dout(t, j) * w(j) * in(t, j) / double(hidden);
        for (std::int64_t j = 0; j < hidden; ++j) {
            const double before = write_dx == Write::Add ? din(t, j) : 0;
            const double pull = in(t, j) * kept(t) * kept(t) * mean;
            din(t, j) = before + kept(t) * (dout(t, j) * w(j) - pull);
        }
    }
}

void Oracle::rms_norm_backward_weight(ConstTensorView dy, ConstTensorView x,
                                      ConstTensorView statistics, TensorView dweight) {
    const std::int64_t tokens = rows_of(x), hidden = dy.shape.columns();
    const auto in = read(x, {tokens, x.shape.columns()}), dout = read(dy, {tokens, hidden});
    const auto kept = read(statistics, {tokens});
    const auto dw = write(dweight, {hidden});
    for (std::int64_t t = 0; t < tokens; ++t)
        for (std::int64_t j = 0; j < hidden; ++j) dw(j) += dout(t, j) * in(t, j) * kept(t);
}

}  // namespace debubble::exec
