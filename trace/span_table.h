#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "trace/key_numbers.h"
#include "trace/trace.h"

namespace debubble {

/// Spans by what they deal with (a message, a collective), those of one key in order of begin.
class SpanTable {
public:
    using Key = KeyNumbers::Key;

    /// Makes room for that many spans, each of its own key.
    void reserve(std::size_t spans) {
        numbers_.reserve(spans);
        added_.reserve(spans);
    }
    void add(const Key& key, std::uint32_t span) {
        added_.push_back({numbers_.number_or_add(key), span});
    }
    /// Comes after the last add() and before all queries.
    void close(const Trace& trace);

    std::size_t size() const { return spans_.size(); }
    std::size_t groups() const { return numbers_.keys().size(); }
    std::span<const std::uint32_t> group(std::size_t number) const {
        return std::span(spans_).subspan(first_[number], first_[number + 1] - first_[number]);
    }
    /// Index of the group's first span among those of all groups.
    std::size_t begin_of(std::size_t number) const { return first_[number]; }

    /// The last span of the key that began at `at` or before.
    std::optional<std::size_t> last_before(const Trace& trace, const Key& key, Instant at) const;
    /// Index of a span of that key among those of all groups.
    std::size_t index_of(const Trace& trace, const Key& key, std::uint32_t span) const;

private:
    struct Added {
        std::uint32_t group;
        std::uint32_t span;
    };
    KeyNumbers numbers_;
    std::vector<Added> added_;
    std::vector<std::uint32_t> first_;  ///< by group, and the end of all
    std::vector<std::uint32_t> spans_;
};

}  // namespace debubble
