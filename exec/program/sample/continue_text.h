#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string_view>
#include <vector>

#include "exec/program/sample/choose_token.h"
#include "exec/program/sample/language_model.h"

namespace debubble::exec {

struct Continuation {
    std::int64_t tokens = 100;  ///< most tokens to add
    Sampling sampling;
    std::optional<std::int32_t> end_of_text;  ///< ends the text, and is not reported
    /// Tokens of the vocabulary that may be chosen; 0: all.
    std::int64_t entries = 0;
};

/// The prompt's tokens; an empty prompt means the start of a document. Throws InputError if the
/// network does not know one of them.
std::vector<std::int32_t> prompt_tokens(std::string_view prompt, const NetworkTokenizer& tokenizer,
                                        std::int64_t vocab);

/// Reports the tokens that follow `text`, each as soon as it is chosen.
void continue_text(LanguageModel& model, std::vector<std::int32_t> text, const Continuation& how,
                   const std::function<void(std::int32_t)>& tell);

}  // namespace debubble::exec
