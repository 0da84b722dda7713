#pragma once

#include <cstdint>
#include <span>

namespace debubble::exec {

/// The rule by which the next token is chosen, in transformers' order: temperature, top-k, top-p.
struct Sampling {
    double temperature = 1;  ///< the logits are divided by it; 0 takes the most probable token
    std::int64_t top_k = 0;  ///< number of most probable tokens to draw from; 0: all
    /// The choice is among the fewest of the most probable tokens that together have this
    /// probability (Holtzman et al. 2020, "The Curious Case of Neural Text Degeneration").
    double top_p = 1;
    std::uint64_t seed = 0;
};

/// The token at `uniform`, in [0, 1), of the distribution. Of equal logits the lower token comes
/// first. Throws InputError if a logit is not a number.
std::int32_t choose_token(std::span<const float> logits, const Sampling& how, double uniform);

/// The random number of the `index`-th token, in [0, 1).
double uniform_of(std::uint64_t seed, std::int64_t index);

}  // namespace debubble::exec
