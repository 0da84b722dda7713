#pragma once

#include <atomic>
#include <cstddef>
#include <functional>

namespace debubble {

/// Calls work(0) .. work(count - 1) on `jobs` threads (0: one per core), each index once, in any
/// order. Stops handing out indices when `stop` becomes true. The first exception of a call stops
/// all threads and is thrown here.
void run_parallel(std::size_t count, int jobs, const std::atomic<bool>* stop,
                  const std::function<void(std::size_t)>& work);

}  // namespace debubble
