#pragma once

#include <chrono>
#include <condition_variable>
#include <csignal>
#include <mutex>
#include <optional>
#include <string>
#include <thread>

/// The end of a run by a signal, and of a process with a rank that hangs after a failure.
namespace debubble::exec {

/// While one lives, SIGINT, SIGTERM and SIGUSR1 (which Slurm sends before the time is up, if asked
/// to) request a stop after the current step; a second signal ends the process at once. There is
/// one at a time.
///
/// A thread of its own receives them. The thread that makes the StopSignal, and all threads that it
/// starts afterwards, block them: kernels that oneDNN 2.6 compiles at run time let the stack
/// pointer point into their scratch memory, and the frame that the system writes below it for a
/// signal would overwrite the heap.
class StopSignal {
public:
    StopSignal();
    ~StopSignal();  ///< called on the thread that made it
    StopSignal(const StopSignal&) = delete;
    StopSignal& operator=(const StopSignal&) = delete;

    bool came() const;

private:
    void hear();

    sigset_t before_{};  ///< signals that were blocked before
    std::mutex mutex_;
    std::condition_variable changed_;
    bool over_ = false;
    std::thread ear_;
};

/// Ends the process if it still runs some time after a failure: a thread that hangs cannot be
/// joined.
class Watchdog {
public:
    explicit Watchdog(std::chrono::nanoseconds patience);
    ~Watchdog();
    Watchdog(const Watchdog&) = delete;
    Watchdog& operator=(const Watchdog&) = delete;

    /// Starts the patience; the first sentence counts.
    void failed(const std::string& sentence);

private:
    void watch();

    std::chrono::nanoseconds patience_;
    std::mutex mutex_;
    std::condition_variable changed_;
    std::optional<std::string> sentence_;
    bool over_ = false;
    std::thread thread_;
};

}  // namespace debubble::exec
