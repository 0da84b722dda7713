#include "sim/grid/twins.h"

#include <map>

#include <fmt/format.h>

namespace debubble::sim {

bool are_twins(const SweepRow& a, const SweepRow& b) {
    return a.possible() && a.fits == b.fits && a.figures == b.figures;
}

std::vector<std::optional<std::size_t>> twins_in(const std::vector<SweepRow>& rows) {
    const auto less = [](const SweepRow* a, const SweepRow* b) { return a->figures < b->figures; };
    std::map<const SweepRow*, std::size_t, decltype(less)> first(less);
    for (std::size_t i = 0; i < rows.size(); ++i) {
        if (!rows[i].possible()) continue;
        const auto [at, is_new] = first.try_emplace(&rows[i], i);
        if (!is_new && rows[i].index < rows[at->second].index) at->second = i;
    }
    std::vector<std::optional<std::size_t>> twins(rows.size());
    for (std::size_t i = 0; i < rows.size(); ++i) {
        if (!rows[i].possible()) continue;
        if (const std::size_t original = first.at(&rows[i]); original != i) twins[i] = original;
    }
    return twins;
}

std::string difference_of(const SweepRow& twin, const SweepRow& original,
                          std::span<const std::string> keys) {
    std::string text;
    for (std::size_t k = 0; k < keys.size(); ++k)
        if (twin.values[k] != original.values[k])
            text += fmt::format("{}{}={}", text.empty() ? "" : "; ", keys[k], original.values[k]);
    return text;
}

void mark_twins(std::vector<SweepRow>& rows, std::span<const std::string> keys) {
    const auto twins = twins_in(rows);
    for (std::size_t i = 0; i < rows.size(); ++i)
        rows[i].twin_of = twins[i] ? difference_of(rows[i], rows[*twins[i]], keys) : std::string();
}

}  // namespace debubble::sim
