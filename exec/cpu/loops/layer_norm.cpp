#include "exec/cpu/loops/norms.h"

#include <cmath>

#include "exec/cpu/loops/elements.h"
#include "exec/cpu/loops/sums.h"
#include "exec/cpu/vectorise.h"

namespace debubble::exec::loops {

void layer_norm_forward(double eps, In x, In weight, In bias, Out y, Out statistics) {
    const std::int64_t hidden = x.columns();
    assert(weight.size() == hidden && (!bias || bias.size() == hidden) && y.size() == x.size() &&
           statistics.size() == 2 * x.rows() && "x, y [tokens, hidden], statistics [tokens, 2]");
    vectorised([=]() DEBUBBLE_INLINE {
        for (std::int64_t token = 0; token < x.rows(); ++token) {
            const float* from = x.row(token);
            float* to = y.row(token);
            const auto width = static_cast<float>(hidden);
            const float mean =
                sum_of<float>(hidden, [=](std::int64_t j) { return from[j]; }) / width;
            const float variance =
                sum_of<float>(hidden,
                              [=](std::int64_t j) { return (from[j] - mean) * (from[j] - mean); }) /
                width;
            const float scale = 1.F / std::sqrt(variance + static_cast<float>(eps));
            if (bias)
                for (std::int64_t j = 0; j < hidden; ++j)
                    to[j] = (from[j] - mean) * scale * weight[j] + bias[j];
            else
                for (std::int64_t j = 0; j < hidden; ++j)
                    to[j] = (from[j] - mean) * scale * weight[j];
            statistics[2 * token] = mean;
            statistics[2 * token + 1] = scale;
        }
    });
}

void layer_norm_backward_input(In dy, In x, In weight, In statistics, Out dx, Write write) {
    const std::int64_t hidden = x.columns();
    assert(dy.size() == x.size() && dx.size() == x.size() && "dy, x, dx [tokens, hidden]");
    vectorised([=]() DEBUBBLE_INLINE {
        for (std::int64_t token = 0; token < x.rows(); ++token) {
            const float* from = x.row(token);
            const float* up = dy.row(token);
            float* to = dx.row(token);
            const float mean = statistics[2 * token];
            const float scale = statistics[2 * token + 1];
            const auto width = static_cast<float>(hidden);
            // With xhat the normalised x and g = dy * weight:
            // dx = scale * (g - mean(g) - xhat * mean(g * xhat)).
            const float mean_g =
                sum_of<float>(hidden, [&](std::int64_t j) { return up[j] * weight[j]; }) / width;
            const float mean_gx =
                sum_of<float>(hidden,
                              [&](std::int64_t j) {
                                  return up[j] * weight[j] * ((from[j] - mean) * scale);
                              }) /
                width;
            for (std::int64_t j = 0; j < hidden; ++j) {
                const float normalised = (from[j] - mean) * scale;
                const float before = write == Write::Add ? to[j] : 0.F;
                to[j] = before + scale * (up[j] * weight[j] - mean_g - normalised * mean_gx);
            }
        }
    });
}

void layer_norm_backward_weight(In dy, In x, In statistics, Out dweight, Out dbias) {
    assert(dweight.size() == x.columns() && dy.size() == x.size() && "dweight [hidden]");
    vectorised([=]() DEBUBBLE_INLINE {
        const std::int64_t hidden = x.columns();
        for (std::int64_t token = 0; token < x.rows(); ++token) {
            const float* from = x.row(token);
            const float* up = dy.row(token);
            const float mean = statistics[2 * token];
            const float scale = statistics[2 * token + 1];
            for (std::int64_t j = 0; j < hidden; ++j) {
                dweight[j] += up[j] * ((from[j] - mean) * scale);
            }
        }
    });
    if (dbias) add_rows(dy, dbias);
}

}  // namespace debubble::exec::loops
