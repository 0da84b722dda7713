#include "exec/cpu/loops/experts.h"

#include <algorithm>

#include "exec/cpu/loops/sums.h"

namespace debubble::exec::loops {

ExpertRows::ExpertRows(In weights)
    : tokens_(weights.rows()), first_(static_cast<std::size_t>(weights.columns()) + 1, 0) {
    const std::int64_t experts = weights.columns();
    for (std::int64_t token = 0; token < tokens_; ++token)
        for (std::int64_t e = 0; e < experts; ++e)
            if (weights.row(token)[e] != 0.F) ++first_[static_cast<std::size_t>(e) + 1];
    for (std::size_t e = 1; e < first_.size(); ++e) first_[e] += first_[e - 1];
    std::vector<std::int64_t> next(first_.begin(), first_.end() - 1);
    rows_.reserve(first_.back());
    experts_.reserve(first_.back());
    begins_.reserve(static_cast<std::size_t>(tokens_) + 1);
    for (std::int64_t token = 0; token < tokens_; ++token) {
        begins_.push_back(rows_.size());
        for (std::int64_t e = 0; e < experts; ++e)
            if (weights.row(token)[e] != 0.F) {
                rows_.push_back(next[e]++);
                experts_.push_back(e);
            }
    }
    begins_.push_back(rows_.size());
}

void permute_backward(const ExpertRows& rows, TokenRange tokens, In dy, Out dx) {
    const std::int64_t hidden = dx.columns();
    for (std::int64_t token = tokens.first; token < tokens.end; ++token) {
        float* to = dx.row(token);
        std::fill_n(to, hidden, 0.F);
        for (const std::int64_t row : rows.rows_of(token)) {
            const float* from = dy.row(row);
            vectorised([=]() DEBUBBLE_INLINE {
                for (std::int64_t i = 0; i < hidden; ++i) to[i] += from[i];
            });
        }
    }
}

void combine_forward(const ExpertRows& rows, TokenRange tokens, In weights, In x, Out y) {
    const std::int64_t hidden = y.columns();
    for (std::int64_t token = tokens.first; token < tokens.end; ++token) {
        float* to = y.row(token);
        std::fill_n(to, hidden, 0.F);
        const auto experts = rows.experts_of(token), own = rows.rows_of(token);
        for (std::size_t i = 0; i < own.size(); ++i) {
            const float weight = weights.row(token)[experts[i]];
            const float* from = x.row(own[i]);
            vectorised([=]() DEBUBBLE_INLINE {
                for (std::int64_t j = 0; j < hidden; ++j) to[j] += weight * from[j];
            });
        }
    }
}

void combine_backward(const ExpertRows& rows, TokenRange tokens, In weights, In dy, In x, Out dx,
                      Out dweights) {
    const std::int64_t hidden = dy.columns();
    for (std::int64_t token = tokens.first; token < tokens.end; ++token) {
        const float* above = dy.row(token);
        if (dweights) std::fill_n(dweights.row(token), dweights.columns(), 0.F);
        const auto experts = rows.experts_of(token), own = rows.rows_of(token);
        for (std::size_t i = 0; i < own.size(); ++i) {
            if (dweights) {
                const float* from = x.row(own[i]);
                float& dweight = dweights.row(token)[experts[i]];
                vectorised([=, &dweight]() DEBUBBLE_INLINE {
                    dweight =
                        sum_of<float>(hidden, [=](std::int64_t j) { return above[j] * from[j]; });
                });
            }
            if (!dx) continue;
            const float weight = weights.row(token)[experts[i]];
            float* to = dx.row(own[i]);
            vectorised([=]() DEBUBBLE_INLINE {
                for (std::int64_t j = 0; j < hidden; ++j) to[j] = weight * above[j];
            });
        }
    }
}

}  // namespace debubble::exec::loops
