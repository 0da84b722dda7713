#pragma once

#include <stop_token>

namespace debubble {

/// What long work throws when nobody wants its answer any more. No std::exception: nothing went
/// wrong, and only who asked for the end catches it.
struct Cancelled {};

/// An atomic load: cheap enough to ask between pieces of a millisecond.
inline void give_up_if(const std::stop_token& stop) {
    if (stop.stop_requested()) throw Cancelled{};
}

}  // namespace debubble
