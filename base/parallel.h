#pragma once

#include <atomic>
#include <cstddef>
#include <functional>
#include <stop_token>

namespace debubble {

/// Calls work(0) .. work(count - 1) on `jobs` threads (0: one per core), each index once, in any
/// order. Stops handing out indices when `stop` becomes true. The first exception of a call stops
/// all threads and is thrown here.
void run_parallel(std::size_t count, int jobs, const std::atomic<bool>* stop,
                  const std::function<void(std::size_t)>& work);

/// Thrown by long work when its answer is no longer needed. It is not a std::exception: nothing
/// went wrong, and only the code that requested the stop catches it.
struct Cancelled {};

/// Throws Cancelled if a stop was requested. This is an atomic load: cheap enough to check between
/// steps of a millisecond.
inline void give_up_if(const std::stop_token& stop) {
    if (stop.stop_requested()) throw Cancelled{};
}

}  // namespace debubble
