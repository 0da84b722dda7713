#pragma once

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdio>
#include <mutex>
#include <string>
#include <thread>

namespace debubble::sim {

/// Writes the progress of a batch as a line at fixed times, even while no point is done: for the
/// log of a job that nobody watches.
class ProgressLog {
public:
    ProgressLog(std::FILE* log, std::chrono::milliseconds between);

    /// Thread-safe.
    void note(std::size_t done, std::size_t total);

private:
    using Clock = std::chrono::steady_clock;
    void write_until(const std::stop_token& stop, std::FILE* log,
                     std::chrono::milliseconds between);

    Clock::time_point start_ = Clock::now();
    std::mutex mutex_;
    std::condition_variable_any stopped_;
    std::size_t first_done_ = 0;  ///< points done by an earlier run
    std::size_t done_ = 0;
    std::size_t total_ = 0;  ///< 0 until the first point is done
    std::jthread writer_;    ///< joined before the other members are destroyed
};

/// "12 min 05 s", "1.5 h".
std::string duration_words(double seconds);

/// "50 of 100 points, 25/s, 2 s left"; the rate is the mean since `begun`.
std::string progress_words(std::size_t done, std::size_t total, std::size_t begun,
                           double elapsed_s);

}  // namespace debubble::sim
