#include "base/diagnostic.h"

#include <algorithm>
#include <tuple>

#include <fmt/format.h>

namespace debubble {
namespace {

constexpr std::size_t kLongestLine = 160;

std::vector<Diagnostic> in_reading_order(std::vector<Diagnostic> diagnostics) {
    std::ranges::stable_sort(diagnostics, [](const Diagnostic& a, const Diagnostic& b) {
        return std::tie(a.where.file, a.where.line, a.where.column) <
               std::tie(b.where.file, b.where.line, b.where.column);
    });
    return diagnostics;
}

std::string render_all(const std::vector<Diagnostic>& diagnostics) {
    std::string out;
    for (const Diagnostic& d : diagnostics) out += render(d);
    return out;
}

}  // namespace

std::string line_of(std::string_view text, int number) {
    for (int i = 1; i < number; ++i) {
        const auto end = text.find('\n');
        if (end == std::string_view::npos) return {};
        text.remove_prefix(end + 1);
    }
    std::string_view line = text.substr(0, text.find('\n'));
    if (!line.empty() && line.back() == '\r') line.remove_suffix(1);
    return std::string(line);
}

std::string render(const Diagnostic& d) {
    const std::string file = printable(d.where.file);
    const std::string message = printable(d.message);
    if (file.empty()) return fmt::format("error: {}\n", message);
    if (d.where.line == 0) return fmt::format("{}: error: {}\n", file, message);
    std::string line = d.source_line;
    std::ranges::replace_if(
        line, [](unsigned char c) { return c < 0x20 || c == 0x7f; }, ' ');
    auto column = static_cast<std::size_t>(std::max(d.where.column, 1));
    if (column > kLongestLine / 2 && line.size() > kLongestLine) {
        const std::size_t cut = column - kLongestLine / 2;
        line = "..." + line.substr(std::min(cut, line.size()));
        column = column - cut + 3;
    }
    if (line.size() > kLongestLine) line = line.substr(0, kLongestLine) + "...";
    return fmt::format("{}:{}:{}: error: {}\n  {}\n  {:>{}}\n", file, d.where.line, d.where.column,
                       message, line, '^', column);
}

InputError::InputError(std::vector<Diagnostic> diagnostics)
    : std::runtime_error(render_all(in_reading_order(diagnostics))),
      diagnostics_(in_reading_order(std::move(diagnostics))) {}

InputError::InputError(std::string sentence)
    : InputError(std::vector<Diagnostic>{{{}, std::move(sentence), {}}}) {}

}  // namespace debubble
