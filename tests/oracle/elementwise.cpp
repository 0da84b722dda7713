#include <algorithm>
#include <cmath>
#include <numbers>

#include "tests/oracle/array.h"
#include "tests/oracle/oracle.h"

namespace debubble::exec {

namespace {

const double kRootTwoOverPi = std::sqrt(2 / std::numbers::pi);

double normal_below(double x) {
    return 0.5 * std::erfc(-x / std::numbers::sqrt2);
}
double normal_density(double x) {
    return std::exp(-0.5 * x * x) / std::sqrt(2 * std::numbers::pi);
}
double sigmoid(double x) {
    return 1 / (1 + std::exp(-x));
}

double activation(Nonlinearity kind, double x) {
    switch (kind) {
        case Nonlinearity::Gelu: return x * normal_below(x);
        case Nonlinearity::GeluTanh:
            return 0.5 * x * (1 + std::tanh(kRootTwoOverPi * (x + 0.044715 * x * x * x)));
        case Nonlinearity::Relu: return x < 0 ? 0 : x;
        case Nonlinearity::SquaredRelu: return x < 0 ? 0 : x * x;
    }
    return 0;
}

double slope(Nonlinearity kind, double x) {
    switch (kind) {
        case Nonlinearity::Gelu: return normal_below(x) + x * normal_density(x);
        case Nonlinearity::GeluTanh: {
            const double t = std::tanh(kRootTwoOverPi * (x + 0.044715 * x * x * x));
            return 0.5 * (1 + t) +
                   0.5 * x * (1 - t * t) * kRootTwoOverPi * (1 + 3 * 0.044715 * x * x);
        }
        case Nonlinearity::Relu: return x > 0 ? 1 : 0;
        case Nonlinearity::SquaredRelu: return x > 0 ? 2 * x : 0;
    }
    return 0;
}

double gate_value(Gate kind, double x) {
    switch (kind) {
        case Gate::Silu: return x * sigmoid(x);
        case Gate::Gelu: return activation(Nonlinearity::Gelu, x);
        case Gate::GeluTanh: return activation(Nonlinearity::GeluTanh, x);
        case Gate::ClampedSilu: {
            const double g = std::min(x, kGateLimit);
            return g * sigmoid(kGateSlope * g);
        }
    }
    return 0;
}

double gate_slope(Gate kind, double x) {
    switch (kind) {
        case Gate::Silu: return sigmoid(x) * (1 + x * (1 - sigmoid(x)));
        case Gate::Gelu: return slope(Nonlinearity::Gelu, x);
        case Gate::GeluTanh: return slope(Nonlinearity::GeluTanh, x);
        case Gate::ClampedSilu: {
            const double s = sigmoid(kGateSlope * x);
            return x > kGateLimit ? 0 : s * (1 + kGateSlope * x * (1 - s));
        }
    }
    return 0;
}

/// What is multiplied by the gate's function.
double gated_value(Gate kind, double up) {
    return kind == Gate::ClampedSilu ? std::clamp(up, -kGateLimit, kGateLimit) + 1 : up;
}
double gated_slope(Gate kind, double up) {
    return kind == Gate::ClampedSilu && std::abs(up) > kGateLimit ? 0 : 1;
}

}  // namespace

void Oracle::activation_forward(Nonlinearity kind, ConstTensorView x, TensorView y) {
    const std::int64_t count = x.shape.elements();
    const auto in = read(x, {count});
    const auto out = write(y, {count});
    for (std::int64_t i = 0; i < count; ++i) out(i) = activation(kind, in(i));
}

void Oracle::activation_backward_input(Nonlinearity kind, ConstTensorView dy, ConstTensorView x,
                                       TensorView dx) {
    const std::int64_t count = x.shape.elements();
    const auto dout = read(dy, {count}), in = read(x, {count});
    const auto din = write(dx, {count});
    for (std::int64_t i = 0; i < count; ++i) din(i) = dout(i) * slope(kind, in(i));
}

/// y = f(gate) up, or what the clamped gate has in place of up.
void Oracle::gated_forward(Gate kind, ConstTensorView gate_up, TensorView y) {
    const std::int64_t tokens = rows_of(y), ffn = y.shape.columns();
    const auto in = read(gate_up, {tokens, 2, ffn});
    const auto out = write(y, {tokens, ffn});
    for (std::int64_t t = 0; t < tokens; ++t)
        for (std::int64_t j = 0; j < ffn; ++j)
            out(t, j) = gate_value(kind, in(t, 0, j)) * gated_value(kind, in(t, 1, j));
}

void Oracle::gated_backward_input(Gate kind, ConstTensorView dy, ConstTensorView gate_up,
                                  TensorView dgate_up) {
    const std::int64_t tokens = rows_of(dy), ffn = dy.shape.columns();
    const auto dout = read(dy, {tokens, ffn}), in = read(gate_up, {tokens, 2, ffn});
    const auto din = write(dgate_up, {tokens, 2, ffn});
    for (std::int64_t t = 0; t < tokens; ++t)
        for (std::int64_t j = 0; j < ffn; ++j) {
            const double gate = in(t, 0, j), up = in(t, 1, j);
            din(t, 0, j) = dout(t, j) * gated_value(kind, up) * gate_slope(kind, gate);
            din(t, 1, j) = dout(t, j) * gate_value(kind, gate) * gated_slope(kind, up);
        }
}

void Oracle::output_gate_forward(ConstTensorView x, ConstTensorView gate, TensorView y) {
    const std::int64_t count = x.shape.elements();
    const auto in = read(x, {count}), by = read(gate, {count});
    const auto out = write(y, {count});
    for (std::int64_t i = 0; i < count; ++i) out(i) = in(i)*sigmoid(by(i));
}

void Oracle::output_gate_backward_input(ConstTensorView dy, ConstTensorView x, ConstTensorView gate,
                                        TensorView dx, TensorView dgate) {
    const std::int64_t count = x.shape.elements();
    const auto dout = read(dy, {count}), in = read(x, {count}), by = read(gate, {count});
    const auto din = write(dx, {count}), dby = write(dgate, {count});
    for (std::int64_t i = 0; i < count; ++i) {
        const double s = sigmoid(by(i));
        din(i) = dout(i) * s;
        dby(i) = dout(i) * in(i)*s * (1 - s);
    }
}

/// y = cap tanh(x / cap), whose slope is 1 - (y / cap)^2.
void Oracle::soft_cap_forward(double cap, ConstTensorView x, TensorView y) {
    const std::int64_t count = x.shape.elements();
    const auto in = read(x, {count});
    const auto out = write(y, {count});
    for (std::int64_t i = 0; i < count; ++i) out(i) = cap * std::tanh(in(i) / cap);
}

void Oracle::soft_cap_backward_input(double cap, ConstTensorView dy, ConstTensorView x,
                                     TensorView dx) {
    const std::int64_t count = x.shape.elements();
    const auto dout = read(dy, {count}), in = read(x, {count});
    const auto din = write(dx, {count});
    for (std::int64_t i = 0; i < count; ++i) {
        const double t = std::tanh(in(i) / cap);
        din(i) = dout(i) * (1 - t * t);
    }
}

void Oracle::residual_forward(ConstTensorView x, ConstTensorView branch, TensorView y) {
    const std::int64_t count = x.shape.elements();
    const auto a = read(x, {count}), b = read(branch, {count});
    const auto out = write(y, {count});
    for (std::int64_t i = 0; i < count; ++i) out(i) = a(i) + b(i);
}

void Oracle::add(ConstTensorView term, TensorView total) {
    residual_forward(total, term, total);
}

void Oracle::scale(double factor, TensorView x) {
    const std::int64_t count = x.shape.elements();
    const auto in_place = write(x, {count});
    for (std::int64_t i = 0; i < count; ++i) in_place(i) *= factor;
}

/// An element's word is a function of its place in the whole activation.
void Oracle::dropout(const Dropout& dropout, const Window& window, ConstTensorView x,
                     TensorView y) {
    const std::int64_t samples = x.shape[0], rows = x.shape[1], columns = x.shape[2];
    const auto in = read(x, {samples, rows, columns});
    const auto out = write(y, {samples, rows, columns});
    for (std::int64_t s = 0; s < samples; ++s)
        for (std::int64_t r = 0; r < rows; ++r)
            for (std::int64_t c = 0; c < columns; ++c) {
                const std::uint64_t element = window.element(s, r, c);
                const std::uint32_t word = dropout.stream.block(element / 4)[element % 4];
                out(s, r, c) = word < dropout.threshold() ? 0 : in(s, r, c) * dropout.scale();
            }
}

}  // namespace debubble::exec
