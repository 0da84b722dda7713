#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>

#include "trace/trace.h"

namespace debubble {

/// The Chakra execution trace of a rank, as ASTRA-sim and SimAI read it: a
/// GlobalMetadata and Nodes, each behind its length as a varint (mlcommons/chakra 6dc63e1,
/// schema/protobuf/et_def.proto; attributes' names are those of its feeder).
///
/// A compute depends on the rank's compute before it and on what brings its inputs, a send on the
/// pass that made its message, a receive on the channel's receive before it; the two ends of a
/// message have the same comm_tag. A node named WAIT stands for time in which the rank waits for
/// something that is no node of its own: its host, a link that others use, or, before a send, a
/// receiver that has no buffer yet. Times are whole microseconds,
/// each instant rounded, so that playing the dependencies gives every node's begin and end, and the
/// makespan.
///
/// Collectives name their process group in pg_name, a number; group 0 is that of all ranks.
/// ASTRA-sim wants a file for every rank that a group has (astra-sim 0383c20,
/// workload/Workload.cc): ranks are then numbered tp + T (cp + C (dp + D pp)), and all replicas do
/// what the recorded one did. Of one pipeline, ranks are those of the pipeline, and a group has
/// only its members among them.
enum class ChakraRanks : std::uint8_t { OfOnePipeline, All };

/// The number of files that write_chakra() writes.
std::size_t chakra_files(const TraceHeader& header, ChakraRanks which);

/// Gives the text of each rank's file to `file`, and returns the members of the groups as the JSON
/// that ASTRA-sim reads (--comm-group-configuration): "1": [0, 2].
std::string write_chakra(const Trace& trace, ChakraRanks which,
                         const std::function<void(std::size_t rank, std::string text)>& file);

}  // namespace debubble
