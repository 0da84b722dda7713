#pragma once

#include <vector>

#include "trace/span_graph.h"

namespace debubble {

/// The length of each span without its wait for a peer: a message counts from the time when both
/// ends were ready, a collective from the time when its last member had joined. A Send that ended
/// before its Recv began waited for nobody. A prediction is compared with these lengths, since
/// waits depend on the order.
std::vector<Duration> net_lengths(const SpanGraph& graph);

}  // namespace debubble
