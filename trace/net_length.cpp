#include "trace/span_graph.h"

#include <algorithm>

namespace debubble {
namespace {

/// The part of the span from `joined` on, if it was still running then.
Duration since(const Span& span, Instant joined) {
    return joined > span.end ? span.length() : span.end - std::max(span.begin, joined);
}

}  // namespace

std::vector<Duration> net_lengths(const SpanGraph& graph) {
    const std::vector<Span>& spans = graph.trace().spans;
    std::vector<Duration> lengths(spans.size());
    for (std::size_t i = 0; i < spans.size(); ++i)
        lengths[i] = since(spans[i], spans[graph.last_to_join(i)].begin);
    for (std::size_t i = 0; i < spans.size(); ++i) {
        if (!std::holds_alternative<Recv>(spans[i].action)) continue;
        const auto send = graph.send_of_recv(i);
        if (!send) continue;
        lengths[i] = since(spans[i], spans[*send].begin);
        lengths[*send] = since(spans[*send], spans[i].begin);
    }
    return lengths;
}

}  // namespace debubble
