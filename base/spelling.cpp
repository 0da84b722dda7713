#include "base/diagnostic.h"

#include <algorithm>
#include <numeric>
#include <vector>

namespace debubble {
namespace {

std::size_t edit_distance(std::string_view a, std::string_view b) {
    std::vector<std::size_t> row(b.size() + 1);
    std::iota(row.begin(), row.end(), std::size_t{0});
    for (std::size_t i = 1; i <= a.size(); ++i) {
        std::size_t diagonal = row[0];
        row[0] = i;
        for (std::size_t j = 1; j <= b.size(); ++j) {
            const std::size_t above = row[j];
            row[j] =
                std::min({above + 1, row[j - 1] + 1, diagonal + (a[i - 1] == b[j - 1] ? 0u : 1u)});
            diagonal = above;
        }
    }
    return row.back();
}

}  // namespace

std::optional<std::string> did_you_mean(std::string_view word, std::span<const std::string> known) {
    constexpr std::size_t kLongestWord = 64;  // a longer word is not a typo
    if (word.size() > kLongestWord) return std::nullopt;
    std::optional<std::string> nearest;
    std::size_t best = std::max<std::size_t>(1, word.size() / 3);
    for (const std::string& candidate : known) {
        const std::size_t distance = edit_distance(word, candidate);
        if (distance > best || (nearest && distance == best)) continue;
        best = distance;
        nearest = candidate;
    }
    return nearest;
}

}  // namespace debubble
