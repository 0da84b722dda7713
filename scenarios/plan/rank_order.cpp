#include "scenarios/plan/rank_order.h"

#include <algorithm>
#include <utility>

namespace debubble::scenarios {
namespace {

constexpr ArrayBy<Dimension, std::string_view, 5> kWords{"tp", "cp", "ep", "dp", "pp"};

}  // namespace

std::optional<RankOrder> RankOrder::parse(std::string_view text) {
    RankOrder order;
    std::array<bool, kWords.size()> seen{};
    for (Dimension& place : order.inner_first_) {
        const std::size_t end = std::min(text.find('-'), text.size());
        const auto word = std::ranges::find(kWords, text.substr(0, end));
        if (word == kWords.end()) return std::nullopt;
        const std::size_t index = word - kWords.begin();
        if (std::exchange(seen[index], true)) return std::nullopt;
        place = static_cast<Dimension>(index);
        const bool is_last = &place == &order.inner_first_.back();
        if (is_last != (end == text.size())) return std::nullopt;
        text.remove_prefix(std::min(end + 1, text.size()));
    }
    if (order.inner_first_.front() != Dimension::Tensor) return std::nullopt;
    return order;
}

std::string RankOrder::text() const {
    std::string text;
    for (const Dimension dimension : inner_first_) {
        if (!text.empty()) text += '-';
        text += kWords[dimension];
    }
    return text;
}

int stride_of(Dimension dimension, const RankOrder& order, const DimensionSizes& sizes) {
    int stride = 1;
    for (const Dimension inner : order.inner_first()) {
        if (inner == dimension) break;
        stride *= sizes[inner];
    }
    return stride;
}

}  // namespace debubble::scenarios
