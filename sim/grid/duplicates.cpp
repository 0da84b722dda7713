#include "sim/grid/compare_plans.h"

#include <unordered_map>
#include <utility>

#include <fmt/format.h>

namespace debubble::sim {

bool are_duplicates(const SweepRow& a, const SweepRow& b) {
    return a.possible() && a.fits == b.fits && a.figures == b.figures;
}

std::vector<std::optional<std::size_t>> duplicates_in(const std::vector<SweepRow>& rows) {
    const auto hash = [](const PlanFigures* figures) { return figures->hash(); };
    const auto equal = [](const PlanFigures* a, const PlanFigures* b) { return *a == *b; };
    std::unordered_map<const PlanFigures*, std::size_t, decltype(hash), decltype(equal)> first(
        rows.size(), hash, equal);
    for (std::size_t i = 0; i < rows.size(); ++i) {
        if (!rows[i].possible()) continue;
        const auto [at, is_new] = first.try_emplace(&*rows[i].figures, i);
        if (!is_new && rows[i].index < rows[at->second].index) at->second = i;
    }
    std::vector<std::optional<std::size_t>> duplicates(rows.size());
    for (std::size_t i = 0; i < rows.size(); ++i) {
        if (!rows[i].possible()) continue;
        if (const std::size_t original = first.at(&*rows[i].figures); original != i)
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

bool mark_duplicates(std::vector<SweepRow>& rows, std::span<const std::string> keys) {
    const auto duplicates = duplicates_in(rows);
    bool changes = false;
    for (std::size_t i = 0; i < rows.size(); ++i) {
        std::optional<std::string> twin;
        if (duplicates[i]) twin = difference_of(rows[i], rows[*duplicates[i]], keys);
        if (twin && twin->empty()) twin.reset();
        if (std::exchange(rows[i].twin_of, std::move(twin)) != rows[i].twin_of) changes = true;
    }
    return changes;
}

}  // namespace debubble::sim
