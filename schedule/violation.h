#pragma once

#include <cstddef>
#include <string>

#include "base/ids.h"

namespace debubble {

/// What makes a schedule wrong, as data: tests assert that there is none, the
/// command line prints it, the window marks the action.
struct Violation {
    enum class Kind {
        Missing,    ///< a compute that the shape demands is not there
        Duplicate,  ///< an action stands twice
        Misplaced,  ///< on a rank that does not hold its stage, or of a stage that is none
        Order,      ///< before what it needs on its own rank
        Unmatched,  ///< a send without its receive, or the other way round
        Deadlock,   ///< waits for ever; the message is the cycle
        Sharding,   ///< a compute outside its stage's Unshard..Reshard, or these do not alternate
        Leftover,   ///< something is still held, or in flight, at the end of the step
    };
    Kind kind{};
    Rank rank;
    std::size_t position = 0;  ///< index into that rank's list
    std::string message;       ///< a sentence naming the actions
};

}  // namespace debubble
