#include "exec/cpu/loops/norms.h"

#include <cmath>

#include "exec/cpu/loops/sums.h"
#include "exec/cpu/vectorise.h"

namespace debubble::exec::loops {

void rms_norm_forward(double eps, In x, In weight, Out y, Out statistics) {
    const std::int64_t hidden = y.columns();
    assert(weight.size() == hidden && y.rows() == x.rows() && hidden <= x.columns() &&
           statistics.size() == x.rows() && "x, y [tokens, hidden], statistics [tokens]");
    vectorised([=]() DEBUBBLE_INLINE {
        for (std::int64_t token = 0; token < x.rows(); ++token) {
            const float* from = x.row(token);
            float* to = y.row(token);
            const float squares =
                sum_of<float>(hidden, [=](std::int64_t j) { return from[j] * from[j]; });
            const float mean = squares / static_cast<float>(hidden);
            const float scale = 1.F / std::sqrt(mean + static_cast<float>(eps));
            for (std::int64_t j = 0; j < hidden; ++j) to[j] = from[j] * scale * weight[j];
            statistics[token] = scale;
        }
    });
}

void rms_norm_backward_input(In dy, In x, In weight, In statistics, Out dx, Write write) {
    const std::int64_t hidden = dy.columns();
    assert(dy.rows() == x.rows() && dx.size() == x.size() && "dy, x, dx [tokens, hidden]");
    vectorised([=]() DEBUBBLE_INLINE {
        for (std::int64_t token = 0; token < x.rows(); ++token) {
            const float* from = x.row(token);
            const float* up = dy.row(token);
            float* to = dx.row(token);
            const float scale = statistics[token];
            // With g = dy * weight: dx = scale * (g - x * scale^2 * mean(g * x)).
            const float product =
                sum_of<float>(hidden, [&](std::int64_t j) { return up[j] * weight[j] * from[j]; });
            const float pull = scale * scale * product / static_cast<float>(hidden);
            for (std::int64_t j = 0; j < hidden; ++j) {
                const float before = write == Write::Add ? to[j] : 0.F;
                to[j] = before + scale * (up[j] * weight[j] - from[j] * pull);
            }
        }
    });
}

void rms_norm_backward_weight(In dy, In x, In statistics, Out dweight) {
    assert(dweight.size() == dy.columns() && dy.rows() == x.rows() && "dweight [hidden]");
    vectorised([=]() DEBUBBLE_INLINE {
        const std::int64_t hidden = dy.columns();
        for (std::int64_t token = 0; token < x.rows(); ++token) {
            const float* from = x.row(token);
            const float* up = dy.row(token);
            const float scale = statistics[token];
            for (std::int64_t j = 0; j < hidden; ++j) dweight[j] += up[j] * (from[j] * scale);
        }
    });
}

}  // namespace debubble::exec::loops
