#pragma once

#include <atomic>

namespace debubble::sim {

/// While an object of this type exists, Ctrl-C (SIGINT) and SIGTERM set a flag instead of ending
/// the process, so that work can be stopped cleanly. One at a time.
class Interruption {
public:
    Interruption();
    ~Interruption();
    Interruption(const Interruption&) = delete;
    Interruption& operator=(const Interruption&) = delete;

    const std::atomic<bool>& flag() const;
    /// Ends the process by the signal that was caught, as its parent expects.
    [[noreturn]] void end_by_signal();
};

}  // namespace debubble::sim
