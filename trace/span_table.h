#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "trace/trace.h"

namespace debubble {

/// Spans by the number of their subject (a message, a collective), those of one number in order of
/// begin.
class SpanTable {
public:
    /// Reserves space for that many spans.
    void reserve(std::size_t spans) { added_.reserve(spans); }
    void add(std::uint32_t number, std::uint32_t span) { added_.push_back({number, span}); }
    /// Called after the last add() and before all queries. All numbers are below `numbers`.
    void close(const Trace& trace, std::size_t numbers);

    std::size_t size() const { return spans_.size(); }
    std::size_t groups() const { return first_.size() - 1; }
    /// The spans of a number that is below the limit given to close().
    std::span<const std::uint32_t> group(std::size_t number) const {
        return std::span(spans_).subspan(first_[number], first_[number + 1] - first_[number]);
    }
    /// Index of the group's first span among those of all groups.
    std::size_t begin_of(std::size_t number) const { return first_[number]; }

    /// The last span of the number that began at `at` or before.
    std::optional<std::size_t> last_before(const Trace& trace, std::uint32_t number,
                                           Instant at) const;
    /// Index of a span of that number among those of all groups.
    std::size_t index_of(const Trace& trace, std::uint32_t number, std::uint32_t span) const;

private:
    struct Added {
        std::uint32_t number;
        std::uint32_t span;
    };
    std::vector<Added> added_;
    std::vector<std::uint32_t> first_;  ///< by number, and the end of all
    std::vector<std::uint32_t> spans_;
};

}  // namespace debubble
