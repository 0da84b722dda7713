#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "exec/program/sample/language_model.h"

/// The continuation of a text by a trained network.
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

struct Continuation {
    std::int64_t tokens = 100;  ///< most tokens to add
    Sampling sampling;
    std::optional<std::int32_t> end_of_text;  ///< ends the text, and is not reported
    /// Tokens of the vocabulary that may be chosen; unset: all.
    std::optional<std::int64_t> entries;
};

/// The prompt's tokens; an empty prompt means the start of a document. Throws InputError if the
/// network does not know one of them.
std::vector<std::int32_t> prompt_tokens(std::string_view prompt, const NetworkTokenizer& tokenizer,
                                        std::int64_t vocab);

/// Reports the tokens that follow `text`, each as soon as it is chosen.
void continue_text(LanguageModel& model, std::vector<std::int32_t> text, const Continuation& how,
                   const std::function<void(std::int32_t)>& tell);

}  // namespace debubble::exec
