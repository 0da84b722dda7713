#pragma once

#include <chrono>
#include <cstdio>
#include <functional>
#include <mutex>
#include <string_view>

namespace debubble {

/// A line on standard error that shows the progress of long work. It shows nothing in the first
/// second. On a terminal it is rewritten in place, ten times a second, and erased at the end;
/// elsewhere, as in the log of a job, a line is added every ten seconds. Thread-safe.
class ProgressLine {
public:
    using Clock = std::chrono::steady_clock;

    explicit ProgressLine(bool quiet = false);
    /// `now` is the time, for tests.
    ProgressLine(std::FILE* out, bool on_terminal, std::function<Clock::time_point()> now);
    ~ProgressLine();
    ProgressLine(const ProgressLine&) = delete;
    ProgressLine& operator=(const ProgressLine&) = delete;

    void show(std::string_view words);
    /// Starts another task, which may be short, as if the line had just been made.
    void restart();

private:
    std::FILE* out_;  ///< null if it is to be quiet
    bool on_terminal_;
    std::function<Clock::time_point()> now_;
    std::mutex mutex_;
    Clock::time_point due_{};
    bool written_ = false;
};

}  // namespace debubble
