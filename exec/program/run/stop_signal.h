#pragma once

#include <csignal>

#include <condition_variable>
#include <mutex>
#include <thread>

namespace debubble::exec {

/// While one lives, SIGINT, SIGTERM and SIGUSR1 (which Slurm sends before the time is up, if asked
/// to) request an end after the step under way; a second signal ends the process at once. There is
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

}  // namespace debubble::exec
