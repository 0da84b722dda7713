#include "trace/picture/document/links.h"

#include <numeric>

namespace debubble::picture {

Links::Links(const SpanGraph& graph) {
    const std::size_t count = graph.trace().spans.size();
    needs_.first.reserve(count + 1);
    needs_.first.push_back(0);
    users_.first.assign(count + 1, 0);
    for (std::size_t i = 0; i < count; ++i) {
        for (const std::size_t needed : graph.predecessors_of(i)) {
            needs_.spans.push_back(static_cast<std::uint32_t>(needed));
            ++users_.first[needed + 1];
        }
        needs_.first.push_back(static_cast<std::uint32_t>(needs_.spans.size()));
    }
    std::partial_sum(users_.first.begin(), users_.first.end(), users_.first.begin());
    users_.spans.resize(needs_.spans.size());
    std::vector<std::uint32_t> next = users_.first;
    for (std::uint32_t i = 0; i < count; ++i)
        for (const std::uint32_t needed : needs(i)) users_.spans[next[needed]++] = i;
}

}  // namespace debubble::picture
