#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <optional>
#include <string>

#include "base/command_line/progress_line.h"
#include "sim/commands/terminal/output.h"
#include "sim/grid/progress_log.h"

namespace debubble::sim {

/// The progress of a batch and the time until its end, on standard error: on a terminal one line
/// that is rewritten, elsewhere a line a minute. Shows nothing if the program is quiet.
class ProgressBar {
public:
    ProgressBar();
    ~ProgressBar();  ///< erases the line
    ProgressBar(const ProgressBar&) = delete;
    ProgressBar& operator=(const ProgressBar&) = delete;

    void show(std::size_t done, std::size_t total);

private:
    using Clock = std::chrono::steady_clock;
    bool on_terminal_ = false;
    std::size_t first_done_ = 0;  ///< points done by an earlier run, when the bar was first shown
    Clock::time_point start_;
    Clock::time_point last_shown_;
    std::optional<ProgressLog> log_;  ///< unless it is a terminal
};

/// The line "[######------]  50/100  25/s  2 s left"; the rate is the mean since `begun`.
std::string progress_line(std::size_t done, std::size_t total, std::size_t begun, double elapsed_s);

/// With the progress of a batch: the choices of training.recompute: auto, where a point takes
/// longer than a second. Thread-safe.
class ChoiceLine {
public:
    void point_done(std::size_t done, std::size_t total) {
        done_ = done;
        total_ = total;
        line_.restart();
    }
    /// Reports `done` choices of a point that is not finished.
    void show(std::size_t done, std::size_t all);

private:
    std::atomic<std::size_t> done_{0};
    std::atomic<std::size_t> total_{0};  ///< 0 until a point is done
    ProgressLine line_{is_quiet()};
};

}  // namespace debubble::sim
