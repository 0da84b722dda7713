#pragma once

#include <chrono>
#include <cstddef>
#include <string>

namespace debubble::sim {

/// One line on standard error that shows how far a batch is and when it will
/// be done. Nothing at all if standard error is no terminal.
class ProgressBar {
public:
    ProgressBar();
    ~ProgressBar();  ///< wipes the line
    ProgressBar(const ProgressBar&) = delete;
    ProgressBar& operator=(const ProgressBar&) = delete;

    void show(std::size_t done, std::size_t total);

private:
    using Clock = std::chrono::steady_clock;
    bool on_terminal_ = false;
    std::size_t first_done_ = 0;  ///< when it was first shown: done by an earlier run
    Clock::time_point start_;
    Clock::time_point last_shown_;
};

/// "[######------]  50/100  25/s  2 s left"; the pace is that since `begun`.
std::string progress_line(std::size_t done, std::size_t total, std::size_t begun, double elapsed_s);

}  // namespace debubble::sim
