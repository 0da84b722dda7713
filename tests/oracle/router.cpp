#include <algorithm>
#include <cmath>
#include <vector>

#include "tests/oracle/array.h"
#include "tests/oracle/oracle.h"

namespace debubble::exec {

namespace {

using Numbers = std::vector<double>;

double logistic(double x) {
    return 1 / (1 + std::exp(-x));
}

Numbers softmax(const Numbers& logits) {
    const double largest = *std::ranges::max_element(logits);
    Numbers p;
    double sum = 0;
    for (const double logit : logits) sum += std::exp(logit - largest);
    for (const double logit : logits) p.push_back(std::exp(logit - largest) / sum);
    return p;
}

double log_of_sum(const Numbers& logits) {
    const double largest = *std::ranges::max_element(logits);
    double sum = 0;
    for (const double logit : logits) sum += std::exp(logit - largest);
    return largest + std::log(sum);
}

/// The indices of the `count` largest numbers, the largest first and the first of equal ones.
std::vector<std::size_t> largest_of(const Numbers& numbers, std::size_t count) {
    std::vector<std::size_t> order;
    for (std::size_t i = 0; i < numbers.size(); ++i) order.push_back(i);
    std::ranges::stable_sort(order, [&](auto a, auto b) { return numbers[a] > numbers[b]; });
    order.resize(count);
    return order;
}

Numbers numbers_of_token(const Array<const double>& all, std::int64_t token) {
    Numbers row;
    for (std::int64_t e = 0; e < all.extent(1); ++e) row.push_back(all(token, e));
    return row;
}

/// The scores of groups: of a sigmoid router the sum of the best two, of another the best.
Numbers scores_of_groups(const RouterChoice& choice, const Numbers& keys) {
    const auto groups = static_cast<std::size_t>(choice.groups);
    const std::size_t each = keys.size() / groups;
    Numbers scores;
    for (std::size_t g = 0; g < groups; ++g) {
        Numbers own(keys.begin() + static_cast<std::ptrdiff_t>(g * each),
                    keys.begin() + static_cast<std::ptrdiff_t>((g + 1) * each));
        std::ranges::sort(own, std::greater());
        const bool two = choice.score == RouterScore::Sigmoid && each > 1;
        scores.push_back(own[0] + (two ? own[1] : 0));
    }
    return scores;
}

std::vector<std::size_t> experts_of_choice(const RouterChoice& choice, const Numbers& logits,
                                           const Numbers& correction) {
    Numbers keys = logits;
    if (choice.score == RouterScore::Sigmoid)
        for (std::size_t e = 0; e < keys.size(); ++e)
            keys[e] = logistic(logits[e]) + (correction.empty() ? 0 : correction[e]);
    if (choice.groups_chosen < choice.groups) {
        const std::size_t each = keys.size() / static_cast<std::size_t>(choice.groups);
        const auto chosen = largest_of(scores_of_groups(choice, keys),
                                       static_cast<std::size_t>(choice.groups_chosen));
        for (std::size_t e = 0; e < keys.size(); ++e)
            if (std::ranges::find(chosen, e / each) == chosen.end()) keys[e] = -HUGE_VAL;
    }
    return largest_of(keys, static_cast<std::size_t>(choice.chosen));
}

/// p of the balance loss.
Numbers probabilities(RouterScore score, const Numbers& logits) {
    if (score != RouterScore::Sigmoid) return softmax(logits);
    Numbers p;
    double sum = 0;
    for (const double logit : logits) sum += logistic(logit);
    for (const double logit : logits) p.push_back(logistic(logit) / sum);
    return p;
}

Array<const double> by_token(const ConstTensorView& x) {
    return read(x, {rows_of(x), x.shape.columns()});
}

Numbers numbers_of(const ConstTensorView& x) {
    if (!x) return {};
    const auto all = read(x, {x.shape.elements()});
    Numbers numbers;
    for (std::int64_t i = 0; i < all.extent(0); ++i) numbers.push_back(all(i));
    return numbers;
}

}  // namespace

void Oracle::route_forward(const RouterChoice& choice, ConstTensorView logits,
                           ConstTensorView correction, TensorView weights) {
    const auto all = by_token(logits);
    const auto weight = write(weights, {all.extent(0), all.extent(1)});
    const Numbers added = numbers_of(correction);
    fill_zero(weights);
    for (std::int64_t t = 0; t < all.extent(0); ++t) {
        const Numbers logit = numbers_of_token(all, t);
        const auto chosen = experts_of_choice(choice, logit, added);
        double sum = 1;
        Numbers scores = softmax(logit);
        if (choice.score == RouterScore::Sigmoid)
            for (std::size_t e = 0; e < scores.size(); ++e) scores[e] = logistic(logit[e]);
        const bool divides = choice.score == RouterScore::Softmax ||
                             (choice.score == RouterScore::Sigmoid && choice.renormalised);
        if (divides) {
            sum = 0;
            for (const std::size_t e : chosen) sum += scores[e];
        }
        for (const std::size_t e : chosen)
            weight(t, static_cast<std::int64_t>(e)) = scores[e] / sum * choice.scaling;
    }
}

/// By the derivatives of each score, and of the sum by which it is divided.
void Oracle::route_backward_input(const RouterChoice& choice, ConstTensorView dweights,
                                  ConstTensorView weights, ConstTensorView logits,
                                  TensorView dlogits) {
    const auto w = by_token(weights), dw = by_token(dweights);
    const std::int64_t tokens = w.extent(0), experts = w.extent(1);
    const auto dlogit = write(dlogits, {tokens, experts});
    for (std::int64_t t = 0; t < tokens; ++t) {
        double sum = 0;
        for (std::int64_t e = 0; e < experts; ++e) sum += w(t, e) * dw(t, e);
        if (choice.score == RouterScore::PreSoftmax) {
            const Numbers p = softmax(numbers_of_token(by_token(logits), t));
            for (std::int64_t e = 0; e < experts; ++e) {
                const double above = w(t, e) != 0 ? choice.scaling * dw(t, e) : 0;
                dlogit(t, e) = p[static_cast<std::size_t>(e)] * (above - sum);
            }
            continue;
        }
        const bool sigmoids = choice.score == RouterScore::Sigmoid;
        const bool divides = !sigmoids || choice.renormalised;
        for (std::int64_t e = 0; e < experts; ++e) {
            const double slope = sigmoids ? 1 - logistic(by_token(logits)(t, e)) : 1;
            dlogit(t, e) = w(t, e) * (dw(t, e) - (divides ? sum / choice.scaling : 0)) * slope;
        }
    }
}

/// A token stays if fewer than the capacity come before it, by larger weights or as large ones of
/// earlier tokens.
void Oracle::drop_over_capacity(std::int64_t capacity, ConstTensorView weights, TensorView kept) {
    const auto w = by_token(weights);
    const auto out = write(kept, {w.extent(0), w.extent(1)});
    for (std::int64_t e = 0; e < w.extent(1); ++e)
        for (std::int64_t t = 0; t < w.extent(0); ++t) {
            std::int64_t before = 0;
            for (std::int64_t other = 0; other < w.extent(0); ++other)
                before += w(other, e) > w(t, e) || (w(other, e) == w(t, e) && other < t) ? 1 : 0;
            out(t, e) = before < capacity ? w(t, e) : 0;
        }
}

void Oracle::count_chosen(ConstTensorView weights, TensorView counts) {
    const auto w = by_token(weights);
    const auto count = write(counts, {w.extent(1)});
    for (std::int64_t t = 0; t < w.extent(0); ++t)
        for (std::int64_t e = 0; e < w.extent(1); ++e)
            if (w(t, e) != 0) count(e) += 1;
}

void Oracle::router_losses_forward(const RouterLosses& losses, ConstTensorView logits,
                                   ConstTensorView counts, TensorView balance, TensorView z) {
    const auto all = by_token(logits);
    const Numbers count = numbers_of(counts);
    double &of_balance = write(balance, {1})(0), &of_z = write(z, {1})(0);
    for (std::int64_t t = 0; t < all.extent(0); ++t) {
        const Numbers logit = numbers_of_token(all, t), p = probabilities(losses.score, logit);
        for (std::size_t e = 0; losses.balance != 0 && e < p.size(); ++e)
            of_balance += losses.balance * count[e] * p[e];
        of_z += losses.z * log_of_sum(logit) * log_of_sum(logit);
    }
}

void Oracle::router_losses_backward_input(const RouterLosses& losses, ConstTensorView logits,
                                          ConstTensorView counts, TensorView dlogits) {
    const auto all = by_token(logits);
    const Numbers count = numbers_of(counts);
    const auto dlogit = write(dlogits, {all.extent(0), all.extent(1)});
    for (std::int64_t t = 0; t < all.extent(0); ++t) {
        const Numbers logit = numbers_of_token(all, t), p = probabilities(losses.score, logit);
        const Numbers q = softmax(logit);
        double mean = 0;
        for (std::size_t e = 0; losses.balance != 0 && e < p.size(); ++e) mean += p[e] * count[e];
        for (std::size_t e = 0; e < p.size(); ++e) {
            double& sum = dlogit(t, static_cast<std::int64_t>(e));
            const double slope = losses.score == RouterScore::Sigmoid ? 1 - logistic(logit[e]) : 1;
            if (losses.balance != 0) sum += losses.balance * p[e] * (count[e] - mean) * slope;
            sum += 2 * losses.z * log_of_sum(logit) * q[e];
        }
    }
}

void Oracle::shared_gate_forward(ConstTensorView x, ConstTensorView weight, ConstTensorView branch,
                                 TensorView y, TensorView scores) {
    const auto in = by_token(x), from = by_token(branch);
    const auto w = read(weight, {in.extent(1)});
    const auto out = write(y, {in.extent(0), in.extent(1)});
    const auto score = write(scores, {in.extent(0)});
    for (std::int64_t t = 0; t < in.extent(0); ++t) {
        double logit = 0;
        for (std::int64_t j = 0; j < in.extent(1); ++j) logit += in(t, j) * w(j);
        score(t) = logistic(logit);
        for (std::int64_t j = 0; j < in.extent(1); ++j) out(t, j) = score(t) * from(t, j);
    }
}

void Oracle::shared_gate_backward(ConstTensorView dy, ConstTensorView x, ConstTensorView weight,
                                  ConstTensorView branch, ConstTensorView scores,
                                  TensorView dbranch, TensorView dx, TensorView dweight) {
    const auto in = by_token(x), from = by_token(branch), up = by_token(dy);
    const std::int64_t tokens = in.extent(0), hidden = in.extent(1);
    const auto w = read(weight, {hidden}), score = read(scores, {tokens});
    const auto of_branch = write(dbranch, {tokens, hidden}), of_x = write(dx, {tokens, hidden});
    const auto of_weight = write(dweight, {hidden});
    for (std::int64_t t = 0; t < tokens; ++t) {
        double dlogit = 0;
        for (std::int64_t j = 0; j < hidden; ++j) dlogit += up(t, j) * from(t, j);
        dlogit *= score(t) * (1 - score(t));
        for (std::int64_t j = 0; j < hidden; ++j) {
            of_branch(t, j) = score(t) * up(t, j);
            of_x(t, j) += dlogit * w(j);
            of_weight(j) += dlogit * in(t, j);
        }
    }
}

}  // namespace debubble::exec
