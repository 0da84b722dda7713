#pragma once

#include <cstdint>
#include <functional>

/// Several threads for one operator.
namespace debubble::exec {

/// Calls body(worker) for 0 .. workers - 1, each on a thread of its own, the first on the caller's.
/// One worker is a plain call. The threads are OpenMP's, which oneDNN uses too.
void on_workers(int workers, const std::function<void(int worker)>& body);

/// The cores that this process may use, for each of `threads` computing threads of the host; at
/// most 1.
double cores_per_thread(int threads);

struct Share {
    std::int64_t first = 0;
    std::int64_t end = 0;
};
/// The part of a worker when `count` things are divided into runs of nearly equal length.
constexpr Share share_of(std::int64_t count, int worker, int workers) {
    return {count * worker / workers, count * (worker + 1) / workers};
}

}  // namespace debubble::exec
