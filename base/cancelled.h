#pragma once

#include <stop_token>

namespace debubble {

/// Thrown by long work when nobody needs its answer any more. It is not a std::exception: nothing
/// went wrong, and only the code that asked for the end catches it.
struct Cancelled {};

/// Throws Cancelled if a stop was requested. This is an atomic load: cheap enough to ask between
/// pieces of a millisecond.
inline void give_up_if(const std::stop_token& stop) {
    if (stop.stop_requested()) throw Cancelled{};
}

}  // namespace debubble
