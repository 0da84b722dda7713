#include "exec/cpu/loops/elements.h"

#include <cmath>
#include <numbers>

#include "exec/cpu/loops/exponential.h"
#include "exec/cpu/vectorise.h"

namespace debubble::exec::loops {

namespace {

/// Runs f(i) for every element, vectorised where f can be.
template <class Function>
void for_each_element(const Out& view, const Function& f) {
    const std::int64_t size = view.size();
    vectorised([=]() DEBUBBLE_INLINE {
        for (std::int64_t i = 0; i < size; ++i) f(i);
    });
}

constexpr auto kCubic = static_cast<float>(0.044715);
constexpr auto kTwoRootTwoOverPi =
    static_cast<float>(2 * std::numbers::sqrt2 * std::numbers::inv_sqrtpi);

/// Half of (1 + tanh(u)) is sigmoid(2u), which leaves one exponential.
DEBUBBLE_INLINE inline float gelu_tanh(float x) {
    return x * sigmoid(kTwoRootTwoOverPi * (x + kCubic * x * x * x));
}

DEBUBBLE_INLINE inline float gelu_tanh_slope(float x) {
    const float s = sigmoid(kTwoRootTwoOverPi * (x + kCubic * x * x * x));
    return s + x * s * (1.F - s) * kTwoRootTwoOverPi * (1.F + 3.F * kCubic * x * x);
}

DEBUBBLE_INLINE inline float gelu(float x) {
    return x * normal_below(x, unscaled_normal_density(x));
}

DEBUBBLE_INLINE inline float gelu_slope(float x) {
    constexpr auto kDensityAtZero =
        static_cast<float>(std::numbers::inv_sqrtpi / std::numbers::sqrt2);
    const float density = unscaled_normal_density(x);
    return normal_below(x, density) + x * kDensityAtZero * density;
}

}  // namespace

void activation_forward(Nonlinearity kind, In x, Out y) {
    assert(x.size() == y.size() && "x and y have one shape");
    const float* from = x.data;
    float* to = y.data;
    switch (kind) {
        case Nonlinearity::Gelu:
            return for_each_element(y,
                                    [=](std::int64_t i) DEBUBBLE_INLINE { to[i] = gelu(from[i]); });
        case Nonlinearity::GeluTanh:
            return for_each_element(
                y, [=](std::int64_t i) DEBUBBLE_INLINE { to[i] = gelu_tanh(from[i]); });
        case Nonlinearity::Relu:
            return for_each_element(y, [=](std::int64_t i) DEBUBBLE_INLINE {
                to[i] = from[i] < 0.F ? 0.F : from[i];  // NaN stays NaN
            });
        case Nonlinearity::SquaredRelu:
            return for_each_element(y, [=](std::int64_t i) DEBUBBLE_INLINE {
                to[i] = from[i] < 0.F ? 0.F : from[i] * from[i];
            });
    }
}

void activation_backward_input(Nonlinearity kind, In dy, In x, Out dx) {
    assert(x.size() == dx.size() && dy.size() == dx.size() && "dy, x and dx have one shape");
    const float* up = dy.data;
    const float* from = x.data;
    float* to = dx.data;
    switch (kind) {
        case Nonlinearity::Gelu:
            return for_each_element(
                dx, [=](std::int64_t i) DEBUBBLE_INLINE { to[i] = up[i] * gelu_slope(from[i]); });
        case Nonlinearity::GeluTanh:
            return for_each_element(dx, [=](std::int64_t i) DEBUBBLE_INLINE {
                to[i] = up[i] * gelu_tanh_slope(from[i]);
            });
        case Nonlinearity::Relu:
            return for_each_element(
                dx, [=](std::int64_t i) DEBUBBLE_INLINE { to[i] = from[i] > 0.F ? up[i] : 0.F; });
        case Nonlinearity::SquaredRelu:
            return for_each_element(dx, [=](std::int64_t i) DEBUBBLE_INLINE {
                to[i] = from[i] > 0.F ? up[i] * 2.F * from[i] : 0.F;
            });
    }
}

void output_gate_forward(In x, In gate, Out y) {
    assert(x.size() == y.size() && gate.size() == y.size() && "x, gate and y have one shape");
    const float *from = x.data, *by = gate.data;
    float* to = y.data;
    for_each_element(y, [=](std::int64_t i) DEBUBBLE_INLINE { to[i] = from[i] * sigmoid(by[i]); });
}

void output_gate_backward_input(In dy, In x, In gate, Out dx, Out dgate) {
    assert(dx.size() == dy.size() && dgate.size() == dy.size() && "gradients have one shape");
    const float *up = dy.data, *from = x.data, *by = gate.data;
    float *to = dx.data, *to_gate = dgate.data;
    for_each_element(dx, [=](std::int64_t i) DEBUBBLE_INLINE {
        const float s = sigmoid(by[i]);
        to[i] = up[i] * s;
        to_gate[i] = up[i] * from[i] * s * (1.F - s);
    });
}

void soft_cap_forward(double cap, In x, Out y) {
    const auto limit = static_cast<float>(cap);
    for (std::int64_t i = 0; i < y.size(); ++i) y[i] = limit * std::tanh(x[i] / limit);
}

void soft_cap_backward_input(double cap, In dy, In x, Out dx) {
    const auto limit = static_cast<float>(cap);
    for (std::int64_t i = 0; i < dx.size(); ++i) {
        const float t = std::tanh(x[i] / limit);
        dx[i] = dy[i] * (1.F - t * t);
    }
}

namespace {

/// The identity, for values that are gated as they are.
struct PlainUp {
    DEBUBBLE_INLINE static float up(float u) { return u; }
    DEBUBBLE_INLINE static float up_slope(float) { return 1.F; }
};

/// The value and the slope of a gate's function, and of the function of the gated values.
struct Silu : PlainUp {
    DEBUBBLE_INLINE static float value(float x) { return x * sigmoid(x); }
    DEBUBBLE_INLINE static float slope(float x) {
        const float s = sigmoid(x);
        return s * (1.F + x * (1.F - s));
    }
};
struct ExactGelu : PlainUp {
    DEBUBBLE_INLINE static float value(float x) { return gelu(x); }
    DEBUBBLE_INLINE static float slope(float x) { return gelu_slope(x); }
};
struct TanhGelu : PlainUp {
    DEBUBBLE_INLINE static float value(float x) { return gelu_tanh(x); }
    DEBUBBLE_INLINE static float slope(float x) { return gelu_tanh_slope(x); }
};

struct ClampedSilu {
    static constexpr auto kLimit = static_cast<float>(kGateLimit);
    static constexpr auto kSlope = static_cast<float>(kGateSlope);
    DEBUBBLE_INLINE static float value(float x) {
        const float g = x > kLimit ? kLimit : x;
        return g * sigmoid(kSlope * g);
    }
    DEBUBBLE_INLINE static float slope(float x) {
        const float s = sigmoid(kSlope * x);
        return x > kLimit ? 0.F : s * (1.F + kSlope * x * (1.F - s));
    }
    DEBUBBLE_INLINE static float up(float u) {
        const float below = u > kLimit ? kLimit : u;
        return (below < -kLimit ? -kLimit : below) + 1.F;
    }
    DEBUBBLE_INLINE static float up_slope(float u) { return u > kLimit || u < -kLimit ? 0.F : 1.F; }
};

template <class Body>
void with_function(Gate kind, const Body& body) {
    switch (kind) {
        case Gate::Silu: return body(Silu{});
        case Gate::Gelu: return body(ExactGelu{});
        case Gate::GeluTanh: return body(TanhGelu{});
        case Gate::ClampedSilu: return body(ClampedSilu{});
    }
}

}  // namespace

void gated_forward(Gate kind, In gate, In up, Out y) {
    assert(gate.size() == y.size() && up.size() == y.size() && "gate, up and y have one shape");
    const float* g = gate.data;
    const float* u = up.data;
    float* to = y.data;
    with_function(kind, [&](auto function) {
        for_each_element(y, [=](std::int64_t i) DEBUBBLE_INLINE {
            to[i] = decltype(function)::value(g[i]) * decltype(function)::up(u[i]);
        });
    });
}

void gated_backward_input(Gate kind, In dy, In gate, In up, Out dgate, Out dup) {
    assert(gate.size() == dy.size() && up.size() == dy.size() && "gate, up and dy have one shape");
    const float* d = dy.data;
    const float* g = gate.data;
    const float* u = up.data;
    float* dg = dgate.data;
    float* du = dup.data;
    with_function(kind, [&](auto function) {
        using Function = decltype(function);
        for_each_element(dgate, [=](std::int64_t i) DEBUBBLE_INLINE {
            const float above = d[i], x = g[i], gated = u[i];
            dg[i] = above * Function::up(gated) * Function::slope(x);
            du[i] = above * Function::value(x) * Function::up_slope(gated);
        });
    });
}

void gated_forward(Gate kind, In gate_up, Out y) {
    const std::int64_t ffn = y.columns();
    assert(gate_up.rows() == y.rows() && gate_up.columns() == 2 * ffn && "[tokens, 2 ffn]");
    const Shape row{ffn};
    for (std::int64_t token = 0; token < y.rows(); ++token) {
        const float* gate = gate_up.row(token);
        gated_forward(kind, {gate, row}, {gate + ffn, row}, {y.row(token), row});
    }
}

void gated_backward_input(Gate kind, In dy, In gate_up, Out dgate_up) {
    const std::int64_t ffn = dy.columns();
    assert(gate_up.rows() == dy.rows() && gate_up.columns() == 2 * ffn && "[tokens, 2 ffn]");
    assert(dgate_up.size() == gate_up.size() && "gate_up and its gradient have one shape");
    const Shape row{ffn};
    for (std::int64_t token = 0; token < dy.rows(); ++token) {
        const float* gate = gate_up.row(token);
        float* dgate = dgate_up.row(token);
        gated_backward_input(kind, {dy.row(token), row}, {gate, row}, {gate + ffn, row},
                             {dgate, row}, {dgate + ffn, row});
    }
}

}  // namespace debubble::exec::loops
