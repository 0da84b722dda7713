#include "exec/cpu/loops/experts.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <span>
#include <utility>
#include <vector>

#include "exec/cpu/loops/exponential.h"

namespace debubble::exec::loops {

namespace {

constexpr float kSmallest = std::numeric_limits<float>::min();
constexpr float kNoSum = 1e-20F;  ///< keeps a sum of sigmoids from being zero

/// The best of `count` keys that are not taken, the first of equal ones; -1: all are taken.
std::int64_t best_of(const float* keys, const std::vector<char>& taken, std::int64_t count) {
    std::int64_t best = -1;
    for (std::int64_t i = 0; i < count; ++i)
        if (taken[i] == 0 && (best < 0 || keys[i] > keys[best])) best = i;
    return best;
}

/// The choice of experts of one token after another.
class Chooser {
public:
    Chooser(const RouterChoice& choice, std::int64_t experts)
        : choice_(choice),
          experts_(experts),
          keys_(experts),
          groups_(choice.groups),
          taken_(experts),
          chosen_groups_(choice.groups) {}

    /// Calls take(expert) for the chosen, the best first.
    template <class Take>
    void operator()(const float* logit, const In& correction, const Take& take) {
        for (std::int64_t e = 0; e < experts_; ++e) keys_[e] = key_of(logit[e], correction, e);
        std::ranges::fill(taken_, 0);
        if (choice_.groups_chosen < choice_.groups) leave_out_groups();
        for (std::int64_t i = 0; i < choice_.chosen; ++i) {
            const std::int64_t best = best_of(keys_.data(), taken_, experts_);
            taken_[best] = 1;
            take(best);
        }
    }

private:
    float key_of(float logit, const In& correction, std::int64_t expert) const {
        if (choice_.score != RouterScore::Sigmoid) return logit;
        return sigmoid(logit) + (correction.size() > 0 ? correction[expert] : 0.F);
    }

    float score_of_group(std::int64_t group) const {
        const std::int64_t each = experts_ / choice_.groups;
        const auto first = keys_.begin() + group * each;
        if (choice_.score != RouterScore::Sigmoid || each == 1)
            return *std::max_element(first, first + each);
        float best = -std::numeric_limits<float>::infinity(), second = best;
        for (auto key = first; key != first + each; ++key) {
            second = std::max(second, std::min(best, *key));
            best = std::max(best, *key);
        }
        return best + second;
    }

    void leave_out_groups() {
        const std::int64_t each = experts_ / choice_.groups;
        for (std::int64_t g = 0; g < choice_.groups; ++g) groups_[g] = score_of_group(g);
        std::ranges::fill(chosen_groups_, 0);
        for (std::int64_t i = 0; i < choice_.groups_chosen; ++i)
            chosen_groups_[best_of(groups_.data(), chosen_groups_, choice_.groups)] = 1;
        for (std::int64_t e = 0; e < experts_; ++e)
            if (chosen_groups_[e / each] == 0) taken_[e] = 1;
    }

    const RouterChoice& choice_;
    std::int64_t experts_;
    std::vector<float> keys_, groups_;
    std::vector<char> taken_, chosen_groups_;
};

/// The softmax over all logits of a token: e^(logit - largest) / sum.
struct AllLogits {
    float largest = -std::numeric_limits<float>::infinity();
    float sum = 0;

    AllLogits(const float* logit, std::int64_t experts) {
        for (std::int64_t e = 0; e < experts; ++e) largest = std::max(largest, logit[e]);
        for (std::int64_t e = 0; e < experts; ++e) sum += std::exp(logit[e] - largest);
    }
    float operator()(float logit) const { return std::exp(logit - largest) / sum; }
    float log_of_sum() const { return largest + std::log(sum); }
};

/// The probabilities of one token in the balance loss, p [experts].
void probabilities_of(RouterScore score, const float* logit, std::vector<float>& p) {
    const auto experts = static_cast<std::int64_t>(p.size());
    if (score != RouterScore::Sigmoid) {
        const AllLogits all(logit, experts);
        for (std::int64_t e = 0; e < experts; ++e) p[e] = all(logit[e]);
        return;
    }
    float sum = kNoSum;
    for (std::int64_t e = 0; e < experts; ++e) sum += p[e] = sigmoid(logit[e]);
    for (float& share : p) share /= sum;
}

}  // namespace

void route_forward(const RouterChoice& choice, In logits, In correction, Out weights) {
    const std::int64_t experts = logits.columns();
    assert(weights.size() == logits.size() && "a weight of every token and expert");
    assert(0 < choice.chosen && choice.chosen <= experts && "a token goes to some experts");
    assert(experts % choice.groups == 0 && "groups of experts are equal");
    Chooser choose(choice, experts);
    const auto scaling = static_cast<float>(choice.scaling);
    for (std::int64_t token = 0; token < logits.rows(); ++token) {
        const float* logit = logits.row(token);
        float* weight = weights.row(token);
        std::fill_n(weight, experts, 0.F);
        float largest = 0, sum = 0;
        bool first = true;
        choose(logit, correction, [&](std::int64_t e) {
            if (std::exchange(first, false)) largest = logit[e];
            const float score = choice.score == RouterScore::Sigmoid ? sigmoid(logit[e])
                                                                     : std::exp(logit[e] - largest);
            weight[e] = std::max(score, kSmallest);
            sum += weight[e];
        });
        if (choice.score == RouterScore::PreSoftmax) sum = AllLogits(logit, experts).sum;
        if (choice.score == RouterScore::Sigmoid) sum = choice.renormalised ? sum + kNoSum : 1;
        for (std::int64_t e = 0; e < experts; ++e)
            if (weight[e] != 0.F) weight[e] = std::max(weight[e] / sum * scaling, kSmallest);
    }
}

void route_backward(const RouterChoice& choice, In dweights, In weights, In logits, Out dlogits) {
    const std::int64_t experts = weights.columns();
    const auto scaling = static_cast<float>(choice.scaling);
    for (std::int64_t token = 0; token < weights.rows(); ++token) {
        const float *weight = weights.row(token), *dweight = dweights.row(token);
        const float* logit = logits.size() > 0 ? logits.row(token) : nullptr;
        float* dlogit = dlogits.row(token);
        float mean = 0;
        for (std::int64_t e = 0; e < experts; ++e) mean += weight[e] * dweight[e];
        switch (choice.score) {
            case RouterScore::Softmax:
                mean /= scaling;
                for (std::int64_t e = 0; e < experts; ++e)
                    dlogit[e] = weight[e] * (dweight[e] - mean);
                break;
            case RouterScore::PreSoftmax: {
                const AllLogits all(logit, experts);
                for (std::int64_t e = 0; e < experts; ++e)
                    dlogit[e] =
                        all(logit[e]) * ((weight[e] != 0.F ? scaling * dweight[e] : 0.F) - mean);
                break;
            }
            case RouterScore::Sigmoid:
                mean = choice.renormalised ? mean / scaling : 0.F;
                for (std::int64_t e = 0; e < experts; ++e)
                    dlogit[e] = weight[e] * (dweight[e] - mean) * (1.F - sigmoid(logit[e]));
                break;
        }
    }
}

void drop_over_capacity(std::int64_t capacity, In weights, Out kept) {
    std::copy_n(weights.data, weights.size(), kept.data);
    std::vector<std::int64_t> tokens;
    for (std::int64_t e = 0; e < weights.columns(); ++e) {
        tokens.clear();
        for (std::int64_t token = 0; token < weights.rows(); ++token)
            if (weights.row(token)[e] != 0.F) tokens.push_back(token);
        if (std::ssize(tokens) <= capacity) continue;
        std::ranges::stable_sort(tokens, std::ranges::greater{},
                                 [&](std::int64_t token) { return weights.row(token)[e]; });
        for (const std::int64_t token : std::span(tokens).subspan(capacity))
            kept.row(token)[e] = 0.F;
    }
}

void count_chosen(In weights, Out counts) {
    for (std::int64_t token = 0; token < weights.rows(); ++token)
        for (std::int64_t e = 0; e < weights.columns(); ++e)
            if (weights.row(token)[e] != 0.F) counts[e] += 1.F;
}

double balance_loss(const RouterLosses& losses, In logits, In counts) {
    std::vector<float> p(logits.columns());
    double sum = 0;
    for (std::int64_t token = 0; token < logits.rows(); ++token) {
        probabilities_of(losses.score, logits.row(token), p);
        for (std::size_t e = 0; e < p.size(); ++e)
            sum += static_cast<double>(counts[static_cast<std::int64_t>(e)]) * p[e];
    }
    return losses.balance * sum;
}

double z_loss(const RouterLosses& losses, In logits) {
    double sum = 0;
    for (std::int64_t token = 0; token < logits.rows(); ++token) {
        const double log = AllLogits(logits.row(token), logits.columns()).log_of_sum();
        sum += log * log;
    }
    return losses.z * sum;
}

void router_losses_backward(const RouterLosses& losses, In logits, In counts, Out dlogits) {
    const std::int64_t experts = logits.columns();
    const auto balance = static_cast<float>(losses.balance), z = static_cast<float>(losses.z);
    std::vector<float> p(experts);
    for (std::int64_t token = 0; token < logits.rows(); ++token) {
        const float* logit = logits.row(token);
        float* dlogit = dlogits.row(token);
        if (balance != 0.F) {
            probabilities_of(losses.score, logit, p);
            float mean = 0;
            for (std::int64_t e = 0; e < experts; ++e) mean += p[e] * counts[e];
            for (std::int64_t e = 0; e < experts; ++e) {
                const float slope =
                    losses.score == RouterScore::Sigmoid ? 1.F - sigmoid(logit[e]) : 1.F;
                dlogit[e] += balance * p[e] * (counts[e] - mean) * slope;
            }
        }
        if (z == 0.F) continue;
        const AllLogits all(logit, experts);
        const float factor = 2 * z * all.log_of_sum();
        for (std::int64_t e = 0; e < experts; ++e) dlogit[e] += factor * all(logit[e]);
    }
}

}  // namespace debubble::exec::loops
