#include "sim/grid/compare_plans.h"

#include <map>

#include <fmt/format.h>

namespace debubble::sim {

bool are_duplicates(const SweepRow& a, const SweepRow& b) {
    return a.possible() && a.fits == b.fits && a.figures == b.figures;
}

std::vector<std::optional<std::size_t>> duplicates_in(const std::vector<SweepRow>& rows) {
    const auto less = [](const SweepRow* a, const SweepRow* b) { return a->figures < b->figures; };
    std::map<const SweepRow*, std::size_t, decltype(less)> first(less);
    for (std::size_t i = 0; i < rows.size(); ++i) {
        if (!rows[i].possible()) continue;
        const auto [at, is_new] = first.try_emplace(&rows[i], i);
        if (!is_new && rows[i].index < rows[at->second].index) at->second = i;
    }
    std::vector<std::optional<std::size_t>> duplicates(rows.size());
    for (std::size_t i = 0; i < rows.size(); ++i) {
        if (!rows[i].possible()) continue;
        if (const std::size_t original = first.at(&rows[i]); original != i)
            duplicates[i] = original;
    }
    return duplicates;
}

std::string difference_of(const SweepRow& duplicate, const SweepRow& original,
                          std::span<const std::string> keys) {
    std::string text;
    for (std::size_t k = 0; k < keys.size(); ++k)
        if (duplicate.values[k] != original.values[k])
            text += fmt::format("{}{}={}", text.empty() ? "" : "; ", keys[k], original.values[k]);
    return text;
}

void mark_duplicates(std::vector<SweepRow>& rows, std::span<const std::string> keys) {
    const auto duplicates = duplicates_in(rows);
    for (std::size_t i = 0; i < rows.size(); ++i)
        rows[i].twin_of =
            duplicates[i] ? difference_of(rows[i], rows[*duplicates[i]], keys) : std::string();
}

}  // namespace debubble::sim
