#include "exec/cpu/fixed_order/layer_norm.h"

#include <cmath>

#include "exec/cpu/fixed_order/linear.h"
#include "exec/cpu/fixed_order/sums.h"
#include "exec/cpu/fixed_order/vectorise.h"

namespace debubble::exec::fixed_order {

template <Real T>
void layer_norm_forward(double eps, In<T> x, In<T> weight, In<T> bias, Out<T> y,
                        Out<T> statistics) {
    const std::int64_t hidden = x.columns();
    assert(weight.size() == hidden && bias.size() == hidden && y.size() == x.size() &&
           statistics.size() == 2 * x.rows() && "x, y [tokens, hidden], statistics [tokens, 2]");
    vectorised([=]() DEBUBBLE_INLINE {
        for (std::int64_t token = 0; token < x.rows(); ++token) {
            const T* from = x.row(token);
            T* to = y.row(token);
            const auto width = static_cast<T>(hidden);
            const T mean = sum_of<T>(hidden, [=](std::int64_t j) { return from[j]; }) / width;
            const T variance =
                sum_of<T>(hidden,
                          [=](std::int64_t j) { return (from[j] - mean) * (from[j] - mean); }) /
                width;
            const T scale = T{1} / std::sqrt(variance + static_cast<T>(eps));
            for (std::int64_t j = 0; j < hidden; ++j) {
                to[j] = (from[j] - mean) * scale * weight[j] + bias[j];
            }
            statistics[2 * token] = mean;
            statistics[2 * token + 1] = scale;
        }
    });
}

template <Real T>
void layer_norm_backward_input(In<T> dy, In<T> x, In<T> weight, In<T> statistics, Out<T> dx,
                               Write write) {
    const std::int64_t hidden = x.columns();
    assert(dy.size() == x.size() && dx.size() == x.size() && "dy, x, dx [tokens, hidden]");
    vectorised([=]() DEBUBBLE_INLINE {
        for (std::int64_t token = 0; token < x.rows(); ++token) {
            const T* from = x.row(token);
            const T* up = dy.row(token);
            T* to = dx.row(token);
            const T mean = statistics[2 * token];
            const T scale = statistics[2 * token + 1];
            const auto width = static_cast<T>(hidden);
            // With xhat the normalised x and g = dy * weight:
            // dx = scale * (g - mean(g) - xhat * mean(g * xhat)).
            const T mean_g =
                sum_of<T>(hidden, [&](std::int64_t j) { return up[j] * weight[j]; }) / width;
            const T mean_gx = sum_of<T>(hidden,
                                        [&](std::int64_t j) {
                                            return up[j] * weight[j] * ((from[j] - mean) * scale);
                                        }) /
                              width;
            for (std::int64_t j = 0; j < hidden; ++j) {
                const T normalised = (from[j] - mean) * scale;
                const T before = write == Write::Add ? to[j] : T{0};
                to[j] = before + scale * (up[j] * weight[j] - mean_g - normalised * mean_gx);
            }
        }
    });
}

template <Real T>
void layer_norm_backward_weight(In<T> dy, In<T> x, In<T> statistics, Out<T> dweight, Out<T> dbias) {
    assert(dweight.size() == x.columns() && dy.size() == x.size() && "dweight [hidden]");
    vectorised([=]() DEBUBBLE_INLINE {
        const std::int64_t hidden = x.columns();
        for (std::int64_t token = 0; token < x.rows(); ++token) {
            const T* from = x.row(token);
            const T* up = dy.row(token);
            const T mean = statistics[2 * token];
            const T scale = statistics[2 * token + 1];
            for (std::int64_t j = 0; j < hidden; ++j) {
                dweight[j] += up[j] * ((from[j] - mean) * scale);
            }
        }
    });
    add_rows(dy, dbias);
}

#define INSTANTIATE(T)                                                                     \
    template void layer_norm_forward<T>(double, In<T>, In<T>, In<T>, Out<T>, Out<T>);      \
    template void layer_norm_backward_input<T>(In<T>, In<T>, In<T>, In<T>, Out<T>, Write); \
    template void layer_norm_backward_weight<T>(In<T>, In<T>, In<T>, Out<T>, Out<T>);
INSTANTIATE(float)
INSTANTIATE(double)
#undef INSTANTIATE

}  // namespace debubble::exec::fixed_order
