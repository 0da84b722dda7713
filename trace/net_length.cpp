#include "trace/span_graph.h"

namespace debubble {

std::vector<Duration> net_lengths(const SpanGraph& graph) {
    const std::vector<Span>& spans = graph.trace().spans;
    std::vector<Duration> lengths;
    lengths.reserve(spans.size());
    for (const Span& span : spans) lengths.push_back(span.length());
    for_each_wait(graph, [&](std::size_t span, Duration wait) {
        lengths[span] = spans[span].length() - wait;
    });
    return lengths;
}

}  // namespace debubble
