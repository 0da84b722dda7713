#include "exec/cpu/loops/experts.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "exec/cpu/loops/sums.h"

namespace debubble::exec::loops {

void route_forward(std::int64_t chosen, In logits, Out weights) {
    const std::int64_t experts = logits.columns();
    assert(weights.size() == logits.size() && "a weight of every token and expert");
    assert(0 < chosen && chosen <= experts && "a token goes to some experts");
    for (std::int64_t token = 0; token < logits.rows(); ++token) {
        const float* logit = logits.row(token);
        float* weight = weights.row(token);
        std::fill_n(weight, experts, 0.F);
        float largest = 0, sum = 0;
        for (std::int64_t i = 0; i < chosen; ++i) {
            std::int64_t best = -1;
            for (std::int64_t e = 0; e < experts; ++e)
                if (weight[e] == 0.F && (best < 0 || logit[e] > logit[best])) best = e;
            if (i == 0) largest = logit[best];
            weight[best] =
                std::max(std::exp(logit[best] - largest), std::numeric_limits<float>::min());
            sum += weight[best];
        }
        for (std::int64_t e = 0; e < experts; ++e)
            if (weight[e] != 0.F)
                weight[e] = std::max(weight[e] / sum, std::numeric_limits<float>::min());
    }
}

void route_backward(In dweights, In weights, Out dlogits) {
    const std::int64_t experts = weights.columns();
    for (std::int64_t token = 0; token < weights.rows(); ++token) {
        const float *weight = weights.row(token), *dweight = dweights.row(token);
        float* dlogit = dlogits.row(token);
        float mean = 0;
        for (std::int64_t e = 0; e < experts; ++e) mean += weight[e] * dweight[e];
        for (std::int64_t e = 0; e < experts; ++e) dlogit[e] = weight[e] * (dweight[e] - mean);
    }
}

ExpertRows::ExpertRows(In weights)
    : tokens_(weights.rows()), first_(static_cast<std::size_t>(weights.columns()) + 1, 0) {
    const std::int64_t experts = weights.columns();
    for (std::int64_t token = 0; token < tokens_; ++token)
        for (std::int64_t e = 0; e < experts; ++e)
            if (weights.row(token)[e] != 0.F) ++first_[static_cast<std::size_t>(e) + 1];
    for (std::size_t e = 1; e < first_.size(); ++e) first_[e] += first_[e - 1];
    chosen_ = tokens_ > 0 ? first_.back() / tokens_ : 0;
    assert(chosen_ * tokens_ == first_.back() && "every token goes to as many experts");
    std::vector<std::int64_t> next(first_.begin(), first_.end() - 1);
    rows_.reserve(static_cast<std::size_t>(first_.back()));
    experts_.reserve(static_cast<std::size_t>(first_.back()));
    for (std::int64_t token = 0; token < tokens_; ++token)
        for (std::int64_t e = 0; e < experts; ++e)
            if (weights.row(token)[e] != 0.F) {
                rows_.push_back(next[static_cast<std::size_t>(e)]++);
                experts_.push_back(e);
            }
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
        std::fill_n(dweights.row(token), dweights.columns(), 0.F);
        const auto experts = rows.experts_of(token), own = rows.rows_of(token);
        for (std::size_t i = 0; i < own.size(); ++i) {
            const float weight = weights.row(token)[experts[i]];
            const float* from = x.row(own[i]);
            float* to = dx.row(own[i]);
            float& dweight = dweights.row(token)[experts[i]];
            vectorised([=, &dweight]() DEBUBBLE_INLINE {
                dweight = sum_of<float>(hidden, [=](std::int64_t j) { return above[j] * from[j]; });
                for (std::int64_t j = 0; j < hidden; ++j) to[j] = weight * above[j];
            });
        }
    }
}

}  // namespace debubble::exec::loops
