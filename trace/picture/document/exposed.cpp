#include "trace/picture/document/exposed.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <numeric>

#include <fmt/format.h>

#include "text/wording.h"

namespace debubble::picture {
namespace {

Duration sum_of_parts(const DurationByKind& parts) {
    return std::accumulate(parts.begin(), parts.end(), Duration{});
}

}  // namespace

ExposedSums exposed_sums(const TimelineDocument& document) {
    const Statistics& statistics = document.statistics;
    ExposedSums sums;
    sums.whole_s = seconds(statistics.step) * static_cast<double>(statistics.ranks.size());
    for (const RankStatistics& rank : statistics.ranks) sums.exposed += rank.exposed;
    for (const Device& device : document.devices)
        for (std::size_t k = 0; k < kCommunicationKinds; ++k)
            sums.by_kind[k] += device.exposed_by[k];
    return sums;
}

std::string shares_by_kind(const DurationByKind& parts, double whole_s) {
    if (whole_s <= 0 || sum_of_parts(parts) <= Duration{}) return {};
    std::array<std::size_t, kCommunicationKinds> order{};
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::ranges::stable_sort(order, std::ranges::greater{},
                             [&](std::size_t k) { return parts[k]; });
    std::string words;
    for (const std::size_t k : order) {
        const double share = seconds(parts[k]) / whole_s;
        if (share < 0.0005) continue;  // rounds to 0.0 %
        std::string name(name_of(static_cast<CommunicationKind>(k)));
        if (static_cast<CommunicationKind>(k) != CommunicationKind::Host)
            for (char& c : name) c = static_cast<char>(std::toupper(c));
        words += fmt::format("{}{} {}", words.empty() ? "" : ", ", name, text::percent(share));
    }
    return words;
}

}  // namespace debubble::picture
