#include "exec/cpu/loops/attention/heads.h"

#include <algorithm>
#include <cmath>

#include "exec/cpu/loops/sums.h"
#include "exec/cpu/vectorise.h"

namespace debubble::exec::loops {

namespace {

/// Calls body(line of out, element of log_sum, head), row after row.
template <class Body>
void each_line(const Shape& out, const Body& body) {
    const std::int64_t rows = out[1], heads = out[2];
    for (std::int64_t sample = 0; sample < out[0]; ++sample)
        for (std::int64_t row = 0; row < rows; ++row)
            for (std::int64_t head = 0; head < heads; ++head)
                body((sample * rows + row) * heads + head, (sample * heads + head) * rows + row,
                     head);
}

}  // namespace

void sinks_forward(In sinks, Out out, Out log_sum) {
    each_line(out.shape, [&](std::int64_t line, std::int64_t at, std::int64_t head) {
        const float alone = log_sum[at], sink = sinks[head];
        const float largest = std::max(alone, sink);
        log_sum[at] = largest + std::log(std::exp(alone - largest) + std::exp(sink - largest));
        const float share = std::exp(alone - log_sum[at]);
        float* const values = out.row(line);
        for (std::int64_t d = 0; d < out.columns(); ++d) values[d] *= share;
    });
}

/// The score of the sink has the probability p = exp(sink - log_sum) and the gradient -p (dout .
/// out).
void sinks_backward_weight(In dout, In out, In log_sum, In sinks, Out dsinks) {
    each_line(out.shape, [&](std::int64_t line, std::int64_t at, std::int64_t head) {
        const float* const a = dout.row(line);
        const float* const b = out.row(line);
        const float dot = sum_of<float>(out.columns(), [=](std::int64_t d) { return a[d] * b[d]; });
        dsinks[head] -= std::exp(sinks[head] - log_sum[at]) * dot;
    });
}

}  // namespace debubble::exec::loops
