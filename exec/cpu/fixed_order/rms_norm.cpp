#include "exec/cpu/fixed_order/rms_norm.h"

#include <cmath>

#include "exec/cpu/fixed_order/sums.h"
#include "exec/cpu/fixed_order/vectorise.h"

namespace debubble::exec::fixed_order {

template <Real T>
void rms_norm_forward(double eps, In<T> x, In<T> weight, Out<T> y, Out<T> statistics) {
    const std::int64_t hidden = x.columns();
    assert(weight.size() == hidden && y.size() == x.size() && statistics.size() == x.rows() &&
           "x, y [tokens, hidden], statistics [tokens]");
    vectorised([=]() DEBUBBLE_INLINE {
        for (std::int64_t token = 0; token < x.rows(); ++token) {
            const T* from = x.row(token);
            T* to = y.row(token);
            const T squares = sum_of<T>(hidden, [=](std::int64_t j) { return from[j] * from[j]; });
            const T mean = squares / static_cast<T>(hidden);
            const T scale = T{1} / std::sqrt(mean + static_cast<T>(eps));
            for (std::int64_t j = 0; j < hidden; ++j) to[j] = from[j] * scale * weight[j];
            statistics[token] = scale;
        }
    });
}

template <Real T>
void rms_norm_backward_input(In<T> dy, In<T> x, In<T> weight, In<T> statistics, Out<T> dx,
                             Write write) {
    const std::int64_t hidden = x.columns();
    assert(dy.size() == x.size() && dx.size() == x.size() && "dy, x, dx [tokens, hidden]");
    vectorised([=]() DEBUBBLE_INLINE {
        for (std::int64_t token = 0; token < x.rows(); ++token) {
            const T* from = x.row(token);
            const T* up = dy.row(token);
            T* to = dx.row(token);
            const T scale = statistics[token];
            // With g = dy * weight: dx = scale * (g - x * scale^2 * mean(g * x)).
            const T product =
                sum_of<T>(hidden, [&](std::int64_t j) { return up[j] * weight[j] * from[j]; });
            const T pull = scale * scale * product / static_cast<T>(hidden);
            for (std::int64_t j = 0; j < hidden; ++j) {
                const T before = write == Write::Add ? to[j] : T{0};
                to[j] = before + scale * (up[j] * weight[j] - from[j] * pull);
            }
        }
    });
}

template <Real T>
void rms_norm_backward_weight(In<T> dy, In<T> x, In<T> statistics, Out<T> dweight) {
    assert(dweight.size() == x.columns() && dy.size() == x.size() && "dweight [hidden]");
    vectorised([=]() DEBUBBLE_INLINE {
        const std::int64_t hidden = x.columns();
        for (std::int64_t token = 0; token < x.rows(); ++token) {
            const T* from = x.row(token);
            const T* up = dy.row(token);
            const T scale = statistics[token];
            for (std::int64_t j = 0; j < hidden; ++j) dweight[j] += up[j] * (from[j] * scale);
        }
    });
}

#define INSTANTIATE(T)                                                                   \
    template void rms_norm_forward<T>(double, In<T>, In<T>, Out<T>, Out<T>);             \
    template void rms_norm_backward_input<T>(In<T>, In<T>, In<T>, In<T>, Out<T>, Write); \
    template void rms_norm_backward_weight<T>(In<T>, In<T>, In<T>, Out<T>);
INSTANTIATE(float)
INSTANTIATE(double)
#undef INSTANTIATE

}  // namespace debubble::exec::fixed_order
