#include "exec/cpu/fixed_order/experts.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "exec/cpu/fixed_order/sums.h"

namespace debubble::exec::fixed_order {

template <Real T>
void route_forward(std::int64_t chosen, In<T> logits, Out<T> weights) {
    const std::int64_t experts = logits.columns();
    assert(weights.size() == logits.size() && "a weight of every token and expert");
    assert(0 < chosen && chosen <= experts && "a token goes to some experts");
    for (std::int64_t token = 0; token < logits.rows(); ++token) {
        const T* logit = logits.row(token);
        T* weight = weights.row(token);
        std::fill_n(weight, experts, T{0});
        T largest{}, sum{};
        for (std::int64_t i = 0; i < chosen; ++i) {
            std::int64_t best = -1;
            for (std::int64_t e = 0; e < experts; ++e)
                if (weight[e] == T{0} && (best < 0 || logit[e] > logit[best])) best = e;
            if (i == 0) largest = logit[best];
            weight[best] = std::max(std::exp(logit[best] - largest), std::numeric_limits<T>::min());
            sum += weight[best];
        }
        for (std::int64_t e = 0; e < experts; ++e)
            if (weight[e] != T{0})
                weight[e] = std::max(weight[e] / sum, std::numeric_limits<T>::min());
    }
}

template <Real T>
void route_backward(In<T> dweights, In<T> weights, Out<T> dlogits) {
    const std::int64_t experts = weights.columns();
    for (std::int64_t token = 0; token < weights.rows(); ++token) {
        const T *weight = weights.row(token), *dweight = dweights.row(token);
        T* dlogit = dlogits.row(token);
        T mean{};
        for (std::int64_t e = 0; e < experts; ++e) mean += weight[e] * dweight[e];
        for (std::int64_t e = 0; e < experts; ++e) dlogit[e] = weight[e] * (dweight[e] - mean);
    }
}

template <Real T>
ExpertRows::ExpertRows(View<const T> weights)
    : tokens_(weights.rows()), first_(static_cast<std::size_t>(weights.columns()) + 1, 0) {
    const std::int64_t experts = weights.columns();
    for (std::int64_t token = 0; token < tokens_; ++token)
        for (std::int64_t e = 0; e < experts; ++e)
            if (weights.row(token)[e] != T{0}) ++first_[static_cast<std::size_t>(e) + 1];
    for (std::size_t e = 1; e < first_.size(); ++e) first_[e] += first_[e - 1];
    chosen_ = tokens_ > 0 ? first_.back() / tokens_ : 0;
    assert(chosen_ * tokens_ == first_.back() && "every token goes to as many experts");
    std::vector<std::int64_t> next(first_.begin(), first_.end() - 1);
    rows_.reserve(static_cast<std::size_t>(first_.back()));
    experts_.reserve(static_cast<std::size_t>(first_.back()));
    for (std::int64_t token = 0; token < tokens_; ++token)
        for (std::int64_t e = 0; e < experts; ++e)
            if (weights.row(token)[e] != T{0}) {
                rows_.push_back(next[static_cast<std::size_t>(e)]++);
                experts_.push_back(e);
            }
}

template <Real T>
void permute_backward(const ExpertRows& rows, TokenRange tokens, In<T> dy, Out<T> dx) {
    const std::int64_t hidden = dx.columns();
    for (std::int64_t token = tokens.first; token < tokens.end; ++token) {
        T* to = dx.row(token);
        std::fill_n(to, hidden, T{0});
        for (const std::int64_t row : rows.rows_of(token)) {
            const T* from = dy.row(row);
            vectorised([=]() DEBUBBLE_INLINE {
                for (std::int64_t i = 0; i < hidden; ++i) to[i] += from[i];
            });
        }
    }
}

template <Real T>
void combine_forward(const ExpertRows& rows, TokenRange tokens, In<T> weights, In<T> x, Out<T> y) {
    const std::int64_t hidden = y.columns();
    for (std::int64_t token = tokens.first; token < tokens.end; ++token) {
        T* to = y.row(token);
        std::fill_n(to, hidden, T{0});
        const auto experts = rows.experts_of(token), own = rows.rows_of(token);
        for (std::size_t i = 0; i < own.size(); ++i) {
            const T weight = weights.row(token)[experts[i]];
            const T* from = x.row(own[i]);
            vectorised([=]() DEBUBBLE_INLINE {
                for (std::int64_t j = 0; j < hidden; ++j) to[j] += weight * from[j];
            });
        }
    }
}

template <Real T>
void combine_backward(const ExpertRows& rows, TokenRange tokens, In<T> weights, In<T> dy, In<T> x,
                      Out<T> dx, Out<T> dweights) {
    const std::int64_t hidden = dy.columns();
    for (std::int64_t token = tokens.first; token < tokens.end; ++token) {
        const T* above = dy.row(token);
        std::fill_n(dweights.row(token), dweights.columns(), T{0});
        const auto experts = rows.experts_of(token), own = rows.rows_of(token);
        for (std::size_t i = 0; i < own.size(); ++i) {
            const T weight = weights.row(token)[experts[i]];
            const T* from = x.row(own[i]);
            T* to = dx.row(own[i]);
            T& dweight = dweights.row(token)[experts[i]];
            vectorised([=, &dweight]() DEBUBBLE_INLINE {
                dweight = sum_of<T>(hidden, [=](std::int64_t j) { return above[j] * from[j]; });
                for (std::int64_t j = 0; j < hidden; ++j) to[j] = weight * above[j];
            });
        }
    }
}

#define INSTANTIATE(T)                                                                            \
    template void route_forward<T>(std::int64_t, In<T>, Out<T>);                                  \
    template void route_backward<T>(In<T>, In<T>, Out<T>);                                        \
    template ExpertRows::ExpertRows(View<const T>);                                               \
    template void permute_backward<T>(const ExpertRows&, TokenRange, In<T>, Out<T>);              \
    template void combine_forward<T>(const ExpertRows&, TokenRange, In<T>, In<T>, Out<T>);        \
    template void combine_backward<T>(const ExpertRows&, TokenRange, In<T>, In<T>, In<T>, Out<T>, \
                                      Out<T>);
INSTANTIATE(float)
INSTANTIATE(double)
#undef INSTANTIATE

}  // namespace debubble::exec::fixed_order
