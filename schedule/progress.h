#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "schedule/schedule.h"
#include "schedule/standstill.h"
#include "schedule/transport.h"

namespace debubble {

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

}  // namespace debubble
