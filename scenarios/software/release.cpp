#include "scenarios/software/reader.h"

#include <cctype>
#include <charconv>

namespace debubble::scenarios {

std::optional<Release> release_of(std::string_view words) {
    const auto digit = [&](std::size_t at) {
        return at < words.size() && std::isdigit(static_cast<unsigned char>(words[at])) != 0;
    };
    const auto pair = [&](std::size_t at) {
        return 10 * (words[at] - '0') + (words[at + 1] - '0');
    };
    for (std::size_t at = 0; at + 4 < words.size(); ++at) {
        const bool begins = at == 0 || (!digit(at - 1) && words[at - 1] != '.');
        if (!begins || !digit(at) || !digit(at + 1) || words[at + 2] != '.' || !digit(at + 3) ||
            !digit(at + 4) || digit(at + 5))
            continue;
        const Release release{pair(at), pair(at + 3)};
        if (release.month >= 1 && release.month <= 12) return release;
    }
    return {};
}

std::optional<PyTorchVersion> pytorch_of(std::string_view words) {
    constexpr std::string_view kName = "torch ";
    const auto at = words.find(kName);
    if (at == std::string_view::npos) return {};
    PyTorchVersion version;
    const char* const end = words.data() + words.size();
    const auto major = std::from_chars(words.data() + at + kName.size(), end, version.major);
    if (major.ec != std::errc{} || major.ptr == end || *major.ptr != '.') return {};
    const auto minor = std::from_chars(major.ptr + 1, end, version.minor);
    if (minor.ec != std::errc{}) return {};
    return version;
}

}  // namespace debubble::scenarios
