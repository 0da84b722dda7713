#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>

#include <array>

#include <fmt/format.h>

#include "exec/io/data/tokens/pattern.h"
#include "exec/io/mapped_file.h"

namespace debubble::exec {
namespace {

/// Replaces \s: PCRE2's has U+180E too, which Unicode no longer counts as white space.
std::string with_unicode_spaces(std::string_view expression) {
    std::string out;
    for (std::size_t i = 0; i < expression.size(); ++i) {
        const std::string_view escape = expression.substr(i, 2);
        if (escape == "\\s")
            out += "\\p{White_Space}";
        else if (escape == "\\S")
            out += "\\P{White_Space}";
        else
            out += escape.front() == '\\' ? escape : escape.substr(0, 1);
        i += escape.front() == '\\' ? 1 : 0;
    }
    return out;
}

std::string message_of(int code) {
    std::array<PCRE2_UCHAR, 256> text{};
    pcre2_get_error_message(code, text.data(), text.size());
    return reinterpret_cast<const char*>(text.data());
}

struct Free {
    void operator()(pcre2_code* code) const { pcre2_code_free(code); }
    void operator()(pcre2_match_data* data) const { pcre2_match_data_free(data); }
    void operator()(pcre2_match_context* context) const { pcre2_match_context_free(context); }
    void operator()(pcre2_jit_stack* stack) const { pcre2_jit_stack_free(stack); }
};

}  // namespace

struct Pattern::Compiled {
    std::unique_ptr<pcre2_code, Free> code;
    std::unique_ptr<pcre2_match_data, Free> match;
    std::unique_ptr<pcre2_jit_stack, Free> stack;
    std::unique_ptr<pcre2_match_context, Free> context;
};

Pattern::Pattern(std::string_view expression, Over over, const std::filesystem::path& file)
    : compiled_(std::make_unique<Compiled>()), file_(file) {
    constexpr std::uint32_t kCharacters = PCRE2_UTF | PCRE2_UCP | PCRE2_MATCH_INVALID_UTF;
    constexpr std::uint32_t kMostSteps = 10'000'000;
    const std::string text =
        over == Over::Characters ? with_unicode_spaces(expression) : std::string(expression);
    int error = 0;
    std::size_t at = 0;
    Compiled& c = *compiled_;
    c.code.reset(
        pcre2_compile(reinterpret_cast<PCRE2_SPTR>(text.data()), text.size(),
                      (over == Over::Characters ? kCharacters : 0) | PCRE2_NEVER_BACKSLASH_C,
                      &error, &at, nullptr));
    if (!c.code)
        throw bad_file(file, fmt::format("'{}' is not a regular expression: {}", expression,
                                         message_of(error)));
    std::uint32_t looks_back = 0;
    pcre2_pattern_info(c.code.get(), PCRE2_INFO_MAXLOOKBEHIND, &looks_back);
    if (looks_back > 0)
        throw bad_file(file, fmt::format("'{}' looks at the text before a match, which is not "
                                         "supported",
                                         expression));
    c.match.reset(pcre2_match_data_create(1, nullptr));
    c.context.reset(pcre2_match_context_create(nullptr));
    c.stack.reset(pcre2_jit_stack_create(32 << 10, 16 << 20, nullptr));
    if (over == Over::Characters) pcre2_set_match_limit(c.context.get(), kMostSteps);
    if (pcre2_jit_compile(c.code.get(), PCRE2_JIT_COMPLETE) == 0)
        pcre2_jit_stack_assign(c.context.get(), nullptr, c.stack.get());
}

Pattern::~Pattern() = default;
Pattern::Pattern(Pattern&&) noexcept = default;

std::optional<Stretch> Pattern::find(std::string_view text, std::size_t from) const {
    const Compiled& c = *compiled_;
    const int found =
        pcre2_match(c.code.get(), reinterpret_cast<PCRE2_SPTR>(text.data()), text.size(), from,
                    PCRE2_NOTEMPTY, c.match.get(), c.context.get());
    if (found == PCRE2_ERROR_NOMATCH) return std::nullopt;
    if (found < 0)
        throw bad_file(file_, fmt::format("its regular expression fails on '{}': {}",
                                          text.substr(from, 40), message_of(found)));
    const std::size_t* const bounds = pcre2_get_ovector_pointer(c.match.get());
    return Stretch{bounds[0], bounds[1]};
}

}  // namespace debubble::exec
