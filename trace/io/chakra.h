#pragma once

#include <string>
#include <vector>

#include "trace/trace.h"

namespace debubble {

/// The Chakra execution trace of every pipeline rank, as ASTRA-sim and SimAI read them: a
/// GlobalMetadata and Nodes, each behind its length as a varint (mlcommons/chakra 6dc63e1,
/// schema/protobuf/et_def.proto; attributes' names are those of its feeder).
///
/// A compute depends on the rank's compute before it and on what brings its inputs, a send on the
/// pass that made its message, a receive on the channel's receive before it; the two ends of a
/// message have the same comm_tag. A node named WAIT stands for time in which the rank waits for
/// something that is no node of its own: its host, a link that others use, or, before a send, a
/// receiver that has no buffer yet. Times are whole microseconds,
/// each instant rounded, so that playing the dependencies gives every node's begin and end, and the
/// makespan. One pipeline stands for its replicas, and collectives span those.
std::vector<std::string> chakra_traces(const Trace& trace);

}  // namespace debubble
