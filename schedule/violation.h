#pragma once

#include <cstddef>
#include <string>

#include "base/ids.h"

namespace debubble {

/// The violations of a schedule, as data: tests assert that there are none, the command line prints
/// them, the window marks their actions.
struct Violation {
    enum class Kind {
        Missing,    ///< a compute that the shape demands does not exist
        Duplicate,  ///< an action is listed twice
        Misplaced,  ///< on a rank that does not hold its stage, or of a stage outside the shape
        Order,      ///< before an action of its own rank that it needs
        Unmatched,  ///< a send without its receive, or a receive without its send
        Deadlock,   ///< waits forever; the message is the cycle
        Exchanged,  ///< sends and receives of a communicator match in different orders: wrong data
        Sharding,   ///< a compute outside its stage's Unshard..Reshard, or these do not alternate
        Leftover,   ///< memory is still held, or a message in flight, at the end of the step
    };
    Kind kind{};
    Rank rank;
    std::size_t position = 0;  ///< index into that rank's list
    std::string message;       ///< a sentence naming the actions
};

}  // namespace debubble
