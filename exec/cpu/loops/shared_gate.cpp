#include "exec/cpu/loops/experts.h"

#include "exec/cpu/loops/exponential.h"
#include "exec/cpu/loops/sums.h"

namespace debubble::exec::loops {

namespace {

DEBUBBLE_INLINE inline float product_of(std::int64_t hidden, const float* a, const float* b) {
    return sum_of<float>(hidden, [=](std::int64_t j) { return a[j] * b[j]; });
}

/// The gradient of a token's logit.
DEBUBBLE_INLINE inline float logit_gradient(std::int64_t hidden, const float* up,
                                            const float* branch, float score) {
    return product_of(hidden, up, branch) * score * (1.F - score);
}

}  // namespace

void shared_gate_forward(In x, In weight, In branch, Out y, Out scores) {
    const std::int64_t hidden = x.columns();
    assert(weight.size() == hidden && scores.size() == x.rows() && y.size() == branch.size() &&
           "x, branch, y [tokens, hidden], scores [tokens]");
    vectorised([=]() DEBUBBLE_INLINE {
        for (std::int64_t token = 0; token < x.rows(); ++token) {
            const float score = sigmoid(product_of(hidden, x.row(token), weight.data));
            const float* from = branch.row(token);
            float* to = y.row(token);
            for (std::int64_t j = 0; j < hidden; ++j) to[j] = score * from[j];
            scores[token] = score;
        }
    });
}

void shared_gate_backward_input(In dy, In weight, In branch, In scores, Out dbranch, Out dx) {
    const std::int64_t hidden = dy.columns();
    vectorised([=]() DEBUBBLE_INLINE {
        for (std::int64_t token = 0; token < dy.rows(); ++token) {
            const float* up = dy.row(token);
            const float score = scores[token];
            const float dlogit = logit_gradient(hidden, up, branch.row(token), score);
            float *of_branch = dbranch.row(token), *of_x = dx.row(token);
            for (std::int64_t j = 0; j < hidden; ++j) {
                of_branch[j] = score * up[j];
                of_x[j] += dlogit * weight[j];
            }
        }
    });
}

void shared_gate_backward_weight(In dy, In x, In branch, In scores, Out dweight) {
    const std::int64_t hidden = dy.columns();
    vectorised([=]() DEBUBBLE_INLINE {
        for (std::int64_t token = 0; token < dy.rows(); ++token) {
            const float dlogit =
                logit_gradient(hidden, dy.row(token), branch.row(token), scores[token]);
            const float* from = x.row(token);
            for (std::int64_t j = 0; j < hidden; ++j) dweight[j] += dlogit * from[j];
        }
    });
}

}  // namespace debubble::exec::loops
