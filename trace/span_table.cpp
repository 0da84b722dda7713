#include "trace/span_table.h"

#include <algorithm>
#include <utility>

namespace debubble {
namespace {

/// The order of the spans of one key.
auto when(const Trace& trace) {
    return [&trace](std::uint32_t span) { return std::pair(trace.spans[span].begin, span); };
}

}  // namespace

void SpanTable::close(const Trace& trace, std::size_t numbers, bool sorted) {
    first_.assign(numbers + 1, 0);
    for (const Added& added : added_) ++first_[added.number + 1];
    for (std::size_t number = 0; number < numbers; ++number) first_[number + 1] += first_[number];
    spans_.resize(added_.size());
    std::vector<std::uint32_t> next = first_;
    for (const Added& added : added_) spans_[next[added.number]++] = added.span;
    added_ = std::vector<Added>();  // {} would keep its memory
    if (sorted) return;
    for (std::size_t number = 0; number < numbers; ++number) {
        const auto one = std::span(spans_).subspan(first_[number], group(number).size());
        if (!std::ranges::is_sorted(one, {}, when(trace))) std::ranges::sort(one, {}, when(trace));
    }
}

std::optional<std::size_t> SpanTable::last_before(const Trace& trace, std::uint32_t number,
                                                  Instant at) const {
    const auto spans = group(number);
    const auto after = std::ranges::upper_bound(
        spans, at, {}, [&](std::uint32_t span) { return trace.spans[span].begin; });
    if (after == spans.begin()) return std::nullopt;
    return *std::prev(after);
}

std::size_t SpanTable::index_of(const Trace& trace, std::uint32_t number,
                                std::uint32_t span) const {
    const auto spans = group(number);
    const auto found = std::ranges::lower_bound(spans, when(trace)(span), {}, when(trace));
    return begin_of(number) + (found - spans.begin());
}

}  // namespace debubble
