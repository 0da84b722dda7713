#include <algorithm>
#include <cctype>

#include <fnmatch.h>

#include "scenarios/jobs/shell/reader.h"

/// The expansions ${X#a}, ${X/a/b}, ${X:1:2} and ${X,,}.
namespace debubble::jobs {
namespace {

constexpr std::size_t kLongestMatched = 4096;

/// The longest or shortest beginning (or end) that the pattern matches is cut off.
ShellText trimmed(const ShellText& value, const std::string& pattern, bool end, bool longest) {
    const std::size_t size = std::min<std::size_t>(value.text.size(), kLongestMatched);
    std::size_t best = value.text.size() + 1;
    for (std::size_t n = 0; n <= size; ++n) {
        const std::string piece =
            end ? value.text.substr(value.text.size() - n) : value.text.substr(0, n);
        if (::fnmatch(pattern.c_str(), piece.c_str(), 0) != 0) continue;
        best = n;
        if (!longest) break;
    }
    if (best > size) return value;
    return end ? value.part(0, value.text.size() - best)
               : value.part(best, value.text.size() - best);
}

/// The first match of a pattern, or all, replaced. Patterns with signs of fnmatch are not read.
bool replace(ShellText& value, const std::string& pattern, const ShellText& by, bool all) {
    if (pattern.empty()) return true;
    if (pattern.find_first_of("*?[") != std::string::npos) return false;
    ShellText made;
    made.begin = value.offset();
    std::size_t at = 0;
    for (bool more = true; more;) {
        const std::size_t found = value.text.find(pattern, at);
        if (found == std::string::npos || made.text.size() > kLongestMatched * 16) break;
        made.add(value.part(at, found - at));
        made.add(by);
        at = found + pattern.size();
        more = all;
    }
    made.add(value.part(at, std::string::npos));
    value = std::move(made);
    return true;
}

void change_case(ShellText& value, bool upper, bool all) {
    for (std::size_t i = 0; i < value.text.size() && (all || i == 0); ++i) {
        const auto c = static_cast<unsigned char>(value.text[i]);
        value.text[i] = static_cast<char>(upper ? std::toupper(c) : std::tolower(c));
    }
}

}  // namespace

/// `known` becomes false for an operation that is not read.
std::vector<ShellText> ShellReader::changed(const std::vector<ShellText>& values, std::size_t from,
                                            std::size_t to, std::uint32_t begin, bool& known) {
    std::vector<ShellText> made = values;
    const char kind = text()[from];
    const bool twice = from + 1 < to && text()[from + 1] == kind;
    const bool open = std::ranges::any_of(made, [](const ShellText& v) { return !v.known; });
    if (open) {
        known = false;
    } else if (kind == '#' || kind == '%') {
        const ShellText pattern = region(from + (twice ? 2 : 1), to, begin);
        for (ShellText& value : made) value = trimmed(value, pattern.text, kind == '%', twice);
    } else if (kind == '/') {
        const std::size_t first = from + (twice ? 2 : 1);
        const std::size_t slash = std::min(text().find('/', first), to);
        const ShellText pattern = region(first, slash, begin);
        const ShellText by = slash < to ? region(slash + 1, to, begin) : ShellText();
        for (ShellText& value : made) known = known && replace(value, pattern.text, by, twice);
    } else if (kind == ',' || kind == '^') {
        for (ShellText& value : made) change_case(value, kind == '^', twice);
    } else if (kind == ':') {
        const std::size_t colon = std::min(text().find(':', from + 1), to);
        const auto place = script_.place(begin);
        const auto first =
            shell_arithmetic(region(from + 1, colon, begin).text, script_.variables, place);
        const auto length = colon < to ? shell_arithmetic(region(colon + 1, to, begin).text,
                                                          script_.variables, place)
                                       : std::optional<std::int64_t>(1 << 30);
        known = first && length && *length >= 0;
        if (!known) return made;
        const auto bounded = [&](std::size_t size) {
            const auto n = static_cast<std::int64_t>(size);
            return static_cast<std::size_t>(
                std::clamp<std::int64_t>(*first < 0 ? *first + n : *first, 0, n));
        };
        if (made.size() > 1) {  // "${@:2}" counts from $0
            const std::size_t skip = bounded(made.size() + 1);
            made.erase(made.begin(), made.begin() + static_cast<std::ptrdiff_t>(std::min(
                                                        skip > 0 ? skip - 1 : 0, made.size())));
            if (made.size() > static_cast<std::size_t>(*length)) made.resize(*length);
        } else {
            for (ShellText& value : made) value = value.part(bounded(value.text.size()), *length);
        }
    } else {
        known = false;
    }
    return made;
}

}  // namespace debubble::jobs
