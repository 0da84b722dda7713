#include "exec/cpu/loops/activation.h"

#include <numbers>

#include "exec/cpu/loops/exponential.h"
#include "exec/cpu/loops/normal.h"
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
    return x * normal_below(x, bell(x));
}

DEBUBBLE_INLINE inline float gelu_slope(float x) {
    constexpr auto kDensityAtZero =
        static_cast<float>(std::numbers::inv_sqrtpi / std::numbers::sqrt2);
    const float density = bell(x);
    return normal_below(x, density) + x * kDensityAtZero * density;
}

}  // namespace

void activation_forward(Nonlinearity kind, In x, Out y) {
    assert(x.size() == y.size() && "x and y are alike");
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
    }
}

void activation_backward_input(Nonlinearity kind, In dy, In x, Out dx) {
    assert(x.size() == dx.size() && dy.size() == dx.size() && "dy, x and dx are alike");
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
    }
}

void swiglu_forward(In gate, In up, Out y) {
    assert(gate.size() == y.size() && up.size() == y.size() && "gate, up and y are alike");
    const float* g = gate.data;
    const float* u = up.data;
    float* to = y.data;
    for_each_element(y,
                     [=](std::int64_t i) DEBUBBLE_INLINE { to[i] = g[i] * sigmoid(g[i]) * u[i]; });
}

void swiglu_backward_input(In dy, In gate, In up, Out dgate, Out dup) {
    assert(gate.size() == dy.size() && up.size() == dy.size() && "gate, up and dy are alike");
    const float* d = dy.data;
    const float* g = gate.data;
    const float* u = up.data;
    float* dg = dgate.data;
    float* du = dup.data;
    for_each_element(dgate, [=](std::int64_t i) DEBUBBLE_INLINE {
        const float s = sigmoid(g[i]);
        const float slope = s * (1.F + g[i] * (1.F - s));
        const float above = d[i];
        dg[i] = above * u[i] * slope;
        du[i] = above * g[i] * s;
    });
}

void swiglu_forward(In gate_up, Out y) {
    const std::int64_t ffn = y.columns();
    assert(gate_up.rows() == y.rows() && gate_up.columns() == 2 * ffn && "[tokens, 2 ffn]");
    const Shape row{ffn};
    for (std::int64_t token = 0; token < y.rows(); ++token) {
        const float* gate = gate_up.row(token);
        swiglu_forward({gate, row}, {gate + ffn, row}, {y.row(token), row});
    }
}

void swiglu_backward_input(In dy, In gate_up, Out dgate_up) {
    const std::int64_t ffn = dy.columns();
    assert(gate_up.rows() == dy.rows() && gate_up.columns() == 2 * ffn && "[tokens, 2 ffn]");
    assert(dgate_up.size() == gate_up.size() && "gate_up and its gradient are alike");
    const Shape row{ffn};
    for (std::int64_t token = 0; token < dy.rows(); ++token) {
        const float* gate = gate_up.row(token);
        float* dgate = dgate_up.row(token);
        swiglu_backward_input({dy.row(token), row}, {gate, row}, {gate + ffn, row}, {dgate, row},
                              {dgate + ffn, row});
    }
}

}  // namespace debubble::exec::loops
