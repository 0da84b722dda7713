#pragma once

#include <chrono>

namespace debubble::exec::nccl {

/// How long a thread pauses between two questions for the state of a call that does not block.
/// NCCL carries out such a call on a thread of its own, and mostly needs some tens of microseconds:
/// a thread that sleeps meanwhile wakes later than that, by at least the 50 us of Linux's timer
/// slack, and so holds up every kernel behind. It therefore asks again at once for `kEagerly`, and
/// sleeps only for what takes longer, as connecting does: a tenth of the time that it has waited,
/// which is late by a tenth at most.
class Polling {
public:
    using Clock = std::chrono::steady_clock;
    static constexpr std::chrono::microseconds kEagerly{200};
    static constexpr std::chrono::microseconds kLongest{1000};

    explicit Polling(Clock::time_point began) : began_(began) {}
    /// The pause before the next question; zero: none but a yield.
    Clock::duration pause(Clock::time_point now) const;

private:
    Clock::time_point began_;
};

}  // namespace debubble::exec::nccl
