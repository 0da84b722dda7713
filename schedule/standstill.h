#pragma once

#include <cstddef>
#include <string>

#include "base/ids.h"

namespace debubble {

/// A deadlock: a state that a program never leaves.
struct Standstill {
    Rank rank;
    std::size_t position = 0;  ///< position of the action that this rank never completes
    std::string sentence;      ///< "rank 0 waits at 0RECV_F3 for rank 1, which waits at ..."
};

}  // namespace debubble
