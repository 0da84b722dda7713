#pragma once

#include <vector>

#include "trace/span_graph.h"

namespace debubble {

/// Per span its length without the wait for a peer: a message counts from when
/// both ends were there, a collective from when its last member had joined. A
/// Send that was done before its Recv began waited for nobody. These are the
/// lengths that a prediction can be held against: who waits is a question of order.
std::vector<Duration> net_lengths(const SpanGraph& graph);

}  // namespace debubble
