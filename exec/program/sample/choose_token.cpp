#include "exec/program/sample/continue_text.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

#include "base/diagnostic.h"
#include "exec/core/random_stream.h"

namespace debubble::exec {

namespace {

/// The tokens that may be chosen, the most probable first.
std::vector<std::int32_t> candidates(std::span<const float> logits, std::int64_t top_k) {
    std::vector<std::int32_t> tokens(logits.size());
    std::iota(tokens.begin(), tokens.end(), 0);
    const auto likelier = [&](std::int32_t a, std::int32_t b) {
        const float of_a = logits[a];
        const float of_b = logits[b];
        return of_a != of_b ? of_a > of_b : a < b;
    };
    const std::int64_t all = std::ssize(tokens);
    const std::int64_t kept = top_k > 0 ? std::min(top_k, all) : all;
    std::ranges::partial_sort(tokens, tokens.begin() + kept, likelier);
    tokens.resize(kept);
    return tokens;
}

}  // namespace

std::int32_t choose_token(std::span<const float> logits, const Sampling& how, double uniform) {
    if (std::ranges::any_of(logits, [](float logit) { return !std::isfinite(logit); }))
        throw InputError("the network's logits are not finite numbers; its weights are broken");
    if (how.temperature == 0)
        return static_cast<std::int32_t>(std::ranges::max_element(logits) - logits.begin());
    std::vector<std::int32_t> tokens = candidates(logits, how.top_k);
    const double largest = logits[tokens.front()];
    std::vector<double> sums;  // sums of the weights up to and including each token
    double sum = 0;
    for (const std::int32_t token : tokens) {
        sum += std::exp((logits[token] - largest) / how.temperature);
        sums.push_back(sum);
    }
    const auto at_least = [&](double weight) {
        return std::min(std::ranges::lower_bound(sums, weight), sums.end() - 1);
    };
    const double kept = *at_least(how.top_p * sum);
    const auto chosen = std::min(std::ranges::upper_bound(sums, uniform * kept), sums.end() - 1);
    return tokens[chosen - sums.begin()];
}

double uniform_of(std::uint64_t seed, std::int64_t index) {
    const PhiloxCounter words = stream_of(seed, "sample").block(static_cast<std::uint64_t>(index));
    const std::uint64_t bits = (std::uint64_t{words[0]} << 32 | words[1]) >> 11;
    return static_cast<double>(bits) * 0x1p-53;
}

}  // namespace debubble::exec
