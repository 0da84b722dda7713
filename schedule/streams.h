#pragma once

#include <optional>
#include <string>
#include <vector>

#include "schedule/costs.h"
#include "schedule/schedule.h"
#include "schedule/standstill.h"
#include "schedule/transport.h"

/// Programs on transports whose messages share streams: the waits are a graph of the computes, of
/// both ends of every message, and of the messages themselves. An end starts after the computes
/// listed before it and after the message before it on its stream; a message lasts from the moment
/// when both ends have started; a compute waits for the messages that deliver its inputs. A program
/// that does not finish has a cycle in that graph.
namespace debubble {

/// The position at which sends and receives of two ranks no longer match.
struct Exchanged {
    Rank to;
    std::size_t position = 0;  ///< of the receive in the list of `to`
    std::string sentence;
};

/// A send and a receive of one communicator match by their number alone. Where the sends from one
/// rank to another have a different order than the receives, data of the wrong message arrive,
/// without any error if the sizes are equal: the first such place of each communicator.
/// Precondition: the one of find_standstill().
std::vector<Exchanged> exchanged_messages(const Program& program, Transport transport);

/// Preconditions of both: the one of find_standstill(), and a transport that shares streams.
std::optional<Standstill> find_standstill_on_streams(const Program& program, Transport transport);

/// From the first start of a compute to the last end: computes take their costs, a message the
/// link's, and nothing contends. Throws InputError if the program does not finish.
Duration makespan_on_streams(const Program& program, Transport transport,
                             const PipelineCosts& costs);

}  // namespace debubble
