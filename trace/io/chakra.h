#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>

#include "trace/trace.h"

namespace debubble {

/// The Chakra execution trace of a rank, as ASTRA-sim and SimAI read it: a GlobalMetadata and
/// Nodes, each after its length as a varint (mlcommons/chakra 6dc63e1,
/// schema/protobuf/et_def.proto; attributes' names are those of its feeder).
///
/// A compute depends on the rank's compute before it and on the messages that deliver its inputs, a
/// send on the pass that made its message, a receive on the channel's receive before it; the two
/// ends of a message have the same comm_tag. A node named WAIT represents time in which the rank
/// waits for something without a node: its host, a link with contention, or, before a send, a
/// receiver without a free buffer. Times are whole microseconds, each instant rounded, so that
/// replaying the dependencies gives every node's begin and end, and the makespan.
///
/// Collectives name their process group in pg_name, a number; group 0 is that of all ranks.
/// ASTRA-sim needs a file for every rank of a group (astra-sim 0383c20, workload/Workload.cc):
/// ranks are then numbered tp + T (cp + C (dp + D pp)), and all replicas have the actions of the
/// recorded one. For one pipeline, ranks are those of the pipeline, and a group has only its
/// members among them.
enum class ChakraRanks : std::uint8_t { OfOnePipeline, All };

/// The number of files that write_chakra() writes.
std::size_t chakra_files(const TraceHeader& header, ChakraRanks which);

/// Passes the text of each rank's file to `file`, and returns the members of the groups as the JSON
/// that ASTRA-sim reads (--comm-group-configuration): "1": [0, 2].
std::string write_chakra(const Trace& trace, ChakraRanks which,
                         const std::function<void(std::size_t rank, std::string text)>& file);

}  // namespace debubble
