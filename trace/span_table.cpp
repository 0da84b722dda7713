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

void SpanTable::close(const Trace& trace) {
    first_.assign(groups() + 1, 0);
    for (const Added& added : added_) ++first_[added.group + 1];
    for (std::size_t group = 0; group < groups(); ++group) first_[group + 1] += first_[group];
    spans_.resize(added_.size());
    std::vector<std::uint32_t> next = first_;
    for (const Added& added : added_) spans_[next[added.group]++] = added.span;
    added_ = {};
    // A trace is sorted by begin, and then there is nothing left to do.
    for (std::size_t number = 0; number < groups(); ++number) {
        const auto one = std::span(spans_).subspan(first_[number], group(number).size());
        if (!std::ranges::is_sorted(one, {}, when(trace))) std::ranges::sort(one, {}, when(trace));
    }
}

std::optional<std::size_t> SpanTable::last_before(const Trace& trace, const Key& key,
                                                  Instant at) const {
    const auto number = numbers_.number(key);
    if (!number) return std::nullopt;
    const auto spans = group(*number);
    const auto after = std::ranges::upper_bound(
        spans, at, {}, [&](std::uint32_t span) { return trace.spans[span].begin; });
    if (after == spans.begin()) return std::nullopt;
    return *std::prev(after);
}

std::size_t SpanTable::index_of(const Trace& trace, const Key& key, std::uint32_t span) const {
    const std::uint32_t number = *numbers_.number(key);
    const auto spans = group(number);
    const auto found = std::ranges::lower_bound(spans, when(trace)(span), {}, when(trace));
    return begin_of(number) + static_cast<std::size_t>(found - spans.begin());
}

}  // namespace debubble
