#pragma once

#include <chrono>
#include <cstddef>
#include <string>

namespace debubble::sim {

/// One line on standard error that shows the progress of a batch and the time until its end. Shows
/// nothing if standard error is not a terminal.
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
};

/// The line "[######------]  50/100  25/s  2 s left"; the pace is that since `begun`.
std::string progress_line(std::size_t done, std::size_t total, std::size_t begun, double elapsed_s);

}  // namespace debubble::sim
