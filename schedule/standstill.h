#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "base/ids.h"
#include "schedule/costs.h"
#include "schedule/schedule.h"
#include "schedule/transport.h"

/// Whether a program finishes: with the messages of each channel by themselves, and on transports
/// whose messages share streams.
namespace debubble {

/// A deadlock: a state that a program never leaves.
struct Standstill {
    Rank rank;
    std::size_t position = 0;  ///< position of the action that this rank never completes
    std::string sentence;      ///< "rank 0 waits at 0RECV_F3 for rank 1, which waits at ..."
};

/// Executes the program without time: a rank steps through its list, computes need their inputs,
/// communications are issued when they are reached and wait for none. Takes time linear in the
/// actions. Precondition: its computes, sends and receives are complete, match, and are in order on
/// each rank.
std::optional<Standstill> find_standstill(const Program& program, Transport transport);

/// A receive that must be listed earlier than it is.
struct Move {
    Rank rank;
    std::size_t from = 0;    ///< position of the receive
    std::size_t before = 0;  ///< position of the action that it must precede
};

struct Unjamming {
    std::vector<Move> moves;
    bool finishes = true;  ///< true if it finishes after the moves
};

/// The receives to move so that the program finishes under Transport::IssueOrdered, and thus under
/// every one. A ring deadlocks when each of its ranks has sent more than the next one has
/// requested, which must then receive earlier. Moves only receives in such rings; nothing helps if
/// the computes themselves wait in a cycle, or if a receive is listed before an action that its
/// sender waits for. Precondition: the one of find_standstill().
Unjamming moves_against_jams(const Program& program);

// Programs on transports whose messages share streams: the waits are a graph of the computes, of
// both ends of every message, and of the messages themselves. An end starts after the computes
// listed before it and after the message before it on its stream; a message lasts from the moment
// when both ends have started; a compute waits for the messages that deliver its inputs. A program
// that does not finish has a cycle in that graph.

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

// Preconditions of the following: the one of find_standstill(), and a transport that shares
// streams.

/// Plays the lists without time and without that graph, in a quarter of the time. False,
/// too, where the sends and receives of two ranks are not as many.
bool finishes_on_streams(const Program& program, Transport transport);

std::optional<Standstill> find_standstill_on_streams(const Program& program, Transport transport);

/// From the first start of a compute to the last end: computes take their costs, a message the
/// link's, and nothing contends. Throws InputError if the program does not finish.
Duration makespan_on_streams(const Program& program, Transport transport,
                             const PipelineCosts& costs);

}  // namespace debubble
