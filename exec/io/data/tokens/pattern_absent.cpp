#include "base/diagnostic.h"
#include "exec/io/data/tokens/pattern.h"

namespace debubble::exec {

struct Pattern::Compiled {};

Pattern::Pattern(std::string_view, Over, const std::filesystem::path& file) : file_(file) {
    throw WorldError(file.string() +
                     ": its tokenizer splits text by a regular expression, and debubble was built "
                     "without PCRE2 (Debian: libpcre2-dev, 10.40 or newer)");
}
Pattern::~Pattern() = default;
Pattern::Pattern(Pattern&&) noexcept = default;

std::optional<Stretch> Pattern::find(std::string_view, std::size_t) const {
    return std::nullopt;
}

}  // namespace debubble::exec
