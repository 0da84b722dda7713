#include "exec/cpu/fixed_order/activation.h"

#include <numbers>

#include "exec/cpu/fixed_order/exponential.h"
#include "exec/cpu/fixed_order/normal.h"
#include "exec/cpu/fixed_order/vectorise.h"

namespace debubble::exec::fixed_order {

namespace {

/// Runs f(i) for every element, vectorised where f can be.
template <class T, class Function>
void for_each_element(const View<T>& view, const Function& f) {
    const std::int64_t size = view.size();
    vectorised([=]() DEBUBBLE_INLINE {
        for (std::int64_t i = 0; i < size; ++i) f(i);
    });
}

template <class T>
constexpr T kCubic = static_cast<T>(0.044715);

/// Half of (1 + tanh(u)) is sigmoid(2u), which leaves one exponential.
template <class T>
DEBUBBLE_INLINE inline T gelu_tanh(T x) {
    constexpr T kTwoRootTwoOverPi =
        static_cast<T>(2 * std::numbers::sqrt2 * std::numbers::inv_sqrtpi);
    return x * sigmoid(kTwoRootTwoOverPi * (x + kCubic<T> * x * x * x));
}

template <class T>
DEBUBBLE_INLINE inline T gelu_tanh_slope(T x) {
    constexpr T kTwoRootTwoOverPi =
        static_cast<T>(2 * std::numbers::sqrt2 * std::numbers::inv_sqrtpi);
    const T s = sigmoid(kTwoRootTwoOverPi * (x + kCubic<T> * x * x * x));
    return s + x * s * (T{1} - s) * kTwoRootTwoOverPi * (T{1} + T{3} * kCubic<T> * x * x);
}

template <class T>
DEBUBBLE_INLINE inline T gelu(T x) {
    return x * normal_below(x, bell(x));
}

template <class T>
DEBUBBLE_INLINE inline T gelu_slope(T x) {
    constexpr T kDensityAtZero = static_cast<T>(std::numbers::inv_sqrtpi / std::numbers::sqrt2);
    const T density = bell(x);
    return normal_below(x, density) + x * kDensityAtZero * density;
}

}  // namespace

template <Real T>
void activation_forward(Nonlinearity kind, In<T> x, Out<T> y) {
    assert(x.size() == y.size() && "x and y are alike");
    const T* from = x.data;
    T* to = y.data;
    switch (kind) {
        case Nonlinearity::Gelu:
            return for_each_element(y,
                                    [=](std::int64_t i) DEBUBBLE_INLINE { to[i] = gelu(from[i]); });
        case Nonlinearity::GeluTanh:
            return for_each_element(
                y, [=](std::int64_t i) DEBUBBLE_INLINE { to[i] = gelu_tanh(from[i]); });
        case Nonlinearity::Relu:
            return for_each_element(y, [=](std::int64_t i) DEBUBBLE_INLINE {
                to[i] = from[i] < T{0} ? T{0} : from[i];  // NaN stays NaN
            });
    }
}

template <Real T>
void activation_backward_input(Nonlinearity kind, In<T> dy, In<T> x, Out<T> dx) {
    assert(x.size() == dx.size() && dy.size() == dx.size() && "dy, x and dx are alike");
    const T* up = dy.data;
    const T* from = x.data;
    T* to = dx.data;
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
                dx, [=](std::int64_t i) DEBUBBLE_INLINE { to[i] = from[i] > T{0} ? up[i] : T{0}; });
    }
}

template <Real T>
void swiglu_forward(In<T> gate, In<T> up, Out<T> y) {
    assert(gate.size() == y.size() && up.size() == y.size() && "gate, up and y are alike");
    const T* g = gate.data;
    const T* u = up.data;
    T* to = y.data;
    for_each_element(y,
                     [=](std::int64_t i) DEBUBBLE_INLINE { to[i] = g[i] * sigmoid(g[i]) * u[i]; });
}

template <Real T>
void swiglu_backward_input(In<T> dy, In<T> gate, In<T> up, Out<T> dgate, Out<T> dup) {
    assert(gate.size() == dy.size() && up.size() == dy.size() && "gate, up and dy are alike");
    const T* d = dy.data;
    const T* g = gate.data;
    const T* u = up.data;
    T* dg = dgate.data;
    T* du = dup.data;
    for_each_element(dgate, [=](std::int64_t i) DEBUBBLE_INLINE {
        const T s = sigmoid(g[i]);
        const T slope = s * (T{1} + g[i] * (T{1} - s));
        const T above = d[i];
        dg[i] = above * u[i] * slope;
        du[i] = above * g[i] * s;
    });
}

template <Real T>
void swiglu_forward(In<T> gate_up, Out<T> y) {
    const std::int64_t ffn = y.columns();
    assert(gate_up.rows() == y.rows() && gate_up.columns() == 2 * ffn && "[tokens, 2 ffn]");
    const Shape row{ffn};
    for (std::int64_t token = 0; token < y.rows(); ++token) {
        const T* gate = gate_up.row(token);
        swiglu_forward<T>({gate, row}, {gate + ffn, row}, {y.row(token), row});
    }
}

template <Real T>
void swiglu_backward_input(In<T> dy, In<T> gate_up, Out<T> dgate_up) {
    const std::int64_t ffn = dy.columns();
    assert(gate_up.rows() == dy.rows() && gate_up.columns() == 2 * ffn && "[tokens, 2 ffn]");
    assert(dgate_up.size() == gate_up.size() && "gate_up and its gradient are alike");
    const Shape row{ffn};
    for (std::int64_t token = 0; token < dy.rows(); ++token) {
        const T* gate = gate_up.row(token);
        T* dgate = dgate_up.row(token);
        swiglu_backward_input<T>({dy.row(token), row}, {gate, row}, {gate + ffn, row}, {dgate, row},
                                 {dgate + ffn, row});
    }
}

#define INSTANTIATE(T)                                                              \
    template void activation_forward<T>(Nonlinearity, In<T>, Out<T>);               \
    template void activation_backward_input<T>(Nonlinearity, In<T>, In<T>, Out<T>); \
    template void swiglu_forward<T>(In<T>, In<T>, Out<T>);                          \
    template void swiglu_backward_input<T>(In<T>, In<T>, In<T>, Out<T>, Out<T>);    \
    template void swiglu_forward<T>(In<T>, Out<T>);                                 \
    template void swiglu_backward_input<T>(In<T>, In<T>, Out<T>);
INSTANTIATE(float)
INSTANTIATE(double)
#undef INSTANTIATE

}  // namespace debubble::exec::fixed_order
