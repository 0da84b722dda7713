#include "exec/program/sample/continue_text.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/diagnostic.h"

namespace debubble::exec {

std::vector<std::int32_t> prompt_tokens(std::string_view prompt, const NetworkTokenizer& tokenizer,
                                        std::int64_t vocab) {
    std::vector<std::int32_t> tokens = tokenizer.tokenizer->encode(prompt);
    if (tokens.empty()) {
        if (!tokenizer.end_of_text)
            throw InputError(
                "the prompt is empty, and the network has no token that begins a document");
        return {*tokenizer.end_of_text};
    }
    const auto unknown =
        std::ranges::find_if(tokens, [&](std::int32_t token) { return token >= vocab; });
    if (unknown != tokens.end())
        throw InputError(
            fmt::format("{} makes token {} of the prompt's '{}', but the network's vocabulary "
                        "ends at {}; name its own with --tokenizer",
                        tokenizer.tokenizer->name(), *unknown,
                        tokenizer.tokenizer->decode({&*unknown, 1}), vocab - 1));
    return tokens;
}

void continue_text(LanguageModel& model, std::vector<std::int32_t> text, const Continuation& how,
                   const std::function<void(std::int32_t)>& tell) {
    const std::int64_t entries =
        how.entries ? std::min(*how.entries, model.vocab()) : model.vocab();
    for (std::int64_t i = 0; i < how.tokens; ++i) {
        const auto logits = model.logits(text).first(entries);
        const std::int32_t token =
            choose_token(logits, how.sampling, uniform_of(how.sampling.seed, i));
        if (token == how.end_of_text) return;
        tell(token);
        text.push_back(token);
    }
}

}  // namespace debubble::exec
