#pragma once

#include <stop_token>

namespace debubble {

/// Thrown by long work when its answer is no longer needed. It is not a std::exception: nothing
/// went wrong, and only the code that requested the stop catches it.
struct Cancelled {};

/// Throws Cancelled if a stop was requested. This is an atomic load: cheap enough to check between
/// steps of a millisecond.
inline void give_up_if(const std::stop_token& stop) {
    if (stop.stop_requested()) throw Cancelled{};
}

}  // namespace debubble
