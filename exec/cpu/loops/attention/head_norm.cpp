#include "exec/cpu/loops/attention/heads.h"

#include <algorithm>
#include <cmath>

#include "exec/cpu/loops/sums.h"
#include "exec/cpu/vectorise.h"

namespace debubble::exec::loops {

namespace {

/// Calls body(first column, first column where heads are kept, index among the statistics) for
/// every head of a token.
template <class Body>
DEBUBBLE_INLINE inline void each_head(const HeadRun& run, const Body& body) {
    for (std::int64_t head = 0; head < run.heads; ++head)
        body(run.column(head), run.kept_column(head), run.first_head + head);
}

}  // namespace

void head_norm_forward(double eps, const HeadRun& run, In gain, Out x, Out kept, Out statistics) {
    const std::int64_t width = run.head_dim;
    vectorised([=]() DEBUBBLE_INLINE {
        for (std::int64_t token = 0; token < x.rows(); ++token) {
            each_head(run, [=](std::int64_t column, std::int64_t kept_column,
                               std::int64_t index) DEBUBBLE_INLINE {
                float* to = x.row(token) + column;
                float* from = kept.row(token) + kept_column;
                std::copy_n(to, width, from);
                const float squares =
                    sum_of<float>(width, [=](std::int64_t j) { return from[j] * from[j]; });
                const float mean = squares / static_cast<float>(width);
                const float scale = 1.F / std::sqrt(mean + static_cast<float>(eps));
                for (std::int64_t j = 0; j < width; ++j) to[j] = from[j] * scale;
                if (gain)
                    for (std::int64_t j = 0; j < width; ++j) to[j] *= gain[j];
                statistics.row(token)[index] = scale;
            });
        }
    });
}

/// With g = dy * gain: dx = scale * (g - x * scale^2 * mean(g * x)).
void head_norm_backward_input(const HeadRun& run, In gain, In kept, In statistics, Out dx) {
    const std::int64_t width = run.head_dim;
    vectorised([=]() DEBUBBLE_INLINE {
        for (std::int64_t token = 0; token < dx.rows(); ++token) {
            each_head(run, [=](std::int64_t column, std::int64_t kept_column,
                               std::int64_t index) DEBUBBLE_INLINE {
                float* g = dx.row(token) + column;
                const float* from = kept.row(token) + kept_column;
                const float scale = statistics.row(token)[index];
                if (gain)
                    for (std::int64_t j = 0; j < width; ++j) g[j] *= gain[j];
                const float product =
                    sum_of<float>(width, [=](std::int64_t j) { return g[j] * from[j]; });
                const float pull = scale * scale * product / static_cast<float>(width);
                for (std::int64_t j = 0; j < width; ++j) g[j] = scale * (g[j] - from[j] * pull);
            });
        }
    });
}

void head_norm_backward_weight(const HeadRun& run, In kept, In statistics, In dy, Out dgain) {
    const std::int64_t width = run.head_dim;
    vectorised([=]() DEBUBBLE_INLINE {
        for (std::int64_t token = 0; token < dy.rows(); ++token) {
            each_head(run, [=](std::int64_t column, std::int64_t kept_column, std::int64_t index)
                               DEBUBBLE_INLINE {
                                   const float* up = dy.row(token) + column;
                                   const float* from = kept.row(token) + kept_column;
                                   const float scale = statistics.row(token)[index];
                                   for (std::int64_t j = 0; j < width; ++j)
                                       dgain[j] += up[j] * (from[j] * scale);
                               });
        }
    });
}

namespace {

std::int64_t width_of(const HeadRun& run) {
    return run.heads * run.head_dim;
}

}  // namespace

void width_norm_sums(const HeadRun& run, In x, Out sums) {
    const std::int64_t width = width_of(run);
    vectorised([=]() DEBUBBLE_INLINE {
        for (std::int64_t token = 0; token < x.rows(); ++token) {
            const float* from = x.row(token) + run.first_column;
            sums.row(token)[run.first_head] =
                sum_of<float>(width, [=](std::int64_t j) { return from[j] * from[j]; });
        }
    });
}

void width_norm_forward(double eps, std::int64_t columns, const HeadRun& run, In gain, In sums,
                        Out x, Out kept, Out statistics) {
    const std::int64_t width = width_of(run);
    for (std::int64_t token = 0; token < x.rows(); ++token) {
        float* to = x.row(token) + run.first_column;
        float* from = kept.row(token) + run.first_column;
        std::copy_n(to, width, from);
        const float mean = sums.row(token)[run.first_head] / static_cast<float>(columns);
        const float scale = 1.F / std::sqrt(mean + static_cast<float>(eps));
        for (std::int64_t j = 0; j < width; ++j) to[j] = from[j] * scale * gain[j];
        statistics.row(token)[run.first_head] = scale;
    }
}

void width_norm_gradient_sums(const HeadRun& run, In gain, In kept, In dy, Out sums) {
    const std::int64_t width = width_of(run);
    vectorised([=]() DEBUBBLE_INLINE {
        for (std::int64_t token = 0; token < dy.rows(); ++token) {
            const float* up = dy.row(token) + run.first_column;
            const float* from = kept.row(token) + run.first_column;
            sums.row(token)[run.first_head] =
                sum_of<float>(width, [&](std::int64_t j) { return up[j] * gain[j] * from[j]; });
        }
    });
}

void width_norm_backward_input(std::int64_t columns, const HeadRun& run, In gain, In kept,
                               In statistics, In sums, Out dx) {
    const std::int64_t width = width_of(run);
    for (std::int64_t token = 0; token < dx.rows(); ++token) {
        float* g = dx.row(token) + run.first_column;
        const float* from = kept.row(token) + run.first_column;
        const float scale = statistics.row(token)[run.first_head];
        const float pull =
            scale * scale * sums.row(token)[run.first_head] / static_cast<float>(columns);
        for (std::int64_t j = 0; j < width; ++j) g[j] = scale * (g[j] * gain[j] - from[j] * pull);
    }
}

void width_norm_backward_weight(const HeadRun& run, In kept, In statistics, In dy, Out dgain) {
    const std::int64_t width = width_of(run);
    for (std::int64_t token = 0; token < dy.rows(); ++token) {
        const float* up = dy.row(token) + run.first_column;
        const float* from = kept.row(token) + run.first_column;
        const float scale = statistics.row(token)[run.first_head];
        for (std::int64_t j = 0; j < width; ++j) dgain[j] += up[j] * (from[j] * scale);
    }
}

}  // namespace debubble::exec::loops
