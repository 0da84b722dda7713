#pragma once

#include <csignal>

#include <condition_variable>
#include <mutex>
#include <thread>

namespace debubble::exec {

/// While one lives, SIGINT, SIGTERM and SIGUSR1 (what Slurm sends before the time is up, if asked
/// to) ask for an end after the step under way; a second signal ends the process at once. One at a
/// time.
///
/// A thread of its own hears them. The thread that makes the StopSignal, and all threads that it
/// starts from then on, have them blocked: kernels of oneDNN 2.6 that are compiled at run time let
/// the stack pointer point into their scratch memory, and the frame that the system writes below it
/// for a signal would overwrite what lies there on the heap.
class StopSignal {
public:
    StopSignal();
    ~StopSignal();  ///< on the thread that made it
    StopSignal(const StopSignal&) = delete;
    StopSignal& operator=(const StopSignal&) = delete;

    bool came() const;

private:
    void hear();

    sigset_t before_{};  ///< what was blocked
    std::mutex mutex_;
    std::condition_variable bell_;
    bool over_ = false;
    std::thread ear_;
};

}  // namespace debubble::exec
