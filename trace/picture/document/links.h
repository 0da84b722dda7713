#pragma once

#include <cstdint>
#include <vector>

#include "trace/span_graph.h"

namespace debubble::picture {

/// A list of spans for each span, as distances in bytes of seven bits each, since most are near it.
class NearSpans {
public:
    /// Adds the list of the next span, which does not contain that span. O(list).
    void add(const std::uint32_t* begin, const std::uint32_t* end);
    std::vector<std::uint32_t> of(std::size_t span) const;
    /// Calls visit(span, element of its list) for all lists in their order.
    template <class Visit>
    void for_each(Visit&& visit) const {
        std::size_t at = 0;
        for (std::size_t span = 0; span < count_; ++span)
            read(at, [&](std::uint64_t entry) { visit(span, near(span, entry)); });
    }

    void reserve(std::size_t spans);
    void shrink();
    std::size_t size() const { return count_; }

private:
    static constexpr std::size_t kBlock = 16;  ///< lists
    void put(std::uint64_t number);
    std::uint64_t take(std::size_t& at) const {
        std::uint64_t number = 0;
        for (unsigned shift = 0;; shift += 7) {
            const std::uint8_t byte = bytes_[at++];
            number |= static_cast<std::uint64_t>(byte & 0x7fU) << shift;
            if (byte < 0x80U) return number;
        }
    }
    /// Reads a list from `at` on, and moves `at` to its end. An entry has the distance, a bit for
    /// its direction (1: forwards) and a bit for a following entry; 0 is an empty list.
    template <class Visit>
    void read(std::size_t& at, Visit&& visit) const {
        for (std::uint64_t entry = 1; entry % 2 == 1;) {
            entry = take(at);
            if (entry != 0) visit(entry);
        }
    }
    static std::uint32_t near(std::size_t span, std::uint64_t entry) {
        const std::uint64_t distance = entry / 4;
        return static_cast<std::uint32_t>(entry / 2 % 2 == 1 ? span + distance : span - distance);
    }

    std::size_t count_ = 0;
    std::vector<std::uint8_t> bytes_;   ///< entries of the lists
    std::vector<std::uint64_t> block_;  ///< start of every kBlock lists
};

/// The direct dependencies between spans, in both directions.
class Links {
public:
    Links() = default;
    /// Stores the dependencies of each span. add_users() adds the dependents, and can be called
    /// when the graph and its tables are gone.
    explicit Links(const SpanGraph& graph);
    void add_users();

    std::vector<std::uint32_t> needs(std::size_t span) const { return needs_.of(span); }
    std::vector<std::uint32_t> needed_by(std::size_t span) const { return users_.of(span); }

private:
    NearSpans needs_;
    NearSpans users_;
};

}  // namespace debubble::picture
