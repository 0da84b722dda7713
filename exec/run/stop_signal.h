#pragma once

namespace debubble::exec {

/// While one lives, SIGINT, SIGTERM and SIGUSR1 (what Slurm sends before the time is up, if asked
/// to) ask for an end after the step under way; a second signal ends the process at once. One at a
/// time.
class StopSignal {
public:
    StopSignal();
    ~StopSignal();
    StopSignal(const StopSignal&) = delete;
    StopSignal& operator=(const StopSignal&) = delete;

    bool came() const;
};

}  // namespace debubble::exec
