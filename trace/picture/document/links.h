#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "trace/span_graph.h"

namespace debubble::picture {

/// The direct dependencies between spans, in both directions, in flat arrays.
class Links {
public:
    Links() = default;
    explicit Links(const SpanGraph& graph);

    std::span<const std::uint32_t> needs(std::size_t span) const { return of(needs_, span); }
    std::span<const std::uint32_t> needed_by(std::size_t span) const { return of(users_, span); }

private:
    struct Table {
        std::vector<std::uint32_t> first;  ///< start of each span's part, and the end of the last
        std::vector<std::uint32_t> spans;
    };
    static std::span<const std::uint32_t> of(const Table& table, std::size_t span) {
        return std::span(table.spans)
            .subspan(table.first[span], table.first[span + 1] - table.first[span]);
    }
    Table needs_;
    Table users_;
};

}  // namespace debubble::picture
