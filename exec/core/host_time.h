#pragma once

#include <chrono>
#include <ctime>

namespace debubble::exec {

/// Time of one thread: by the clock, and for which the thread had a core. Of two readings of now()
/// the difference counts.
struct HostTime {
    std::chrono::nanoseconds clock{};
    std::chrono::nanoseconds on_core{};

    static HostTime now() {
        return {std::chrono::steady_clock::now().time_since_epoch(), on_core_so_far()};
    }
    /// The processor time of the calling thread, in user and in kernel mode.
    static std::chrono::nanoseconds on_core_so_far() {
        timespec time{};
        ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
        return std::chrono::seconds(time.tv_sec) + std::chrono::nanoseconds(time.tv_nsec);
    }

    HostTime& operator+=(const HostTime& more) {
        clock += more.clock;
        on_core += more.on_core;
        return *this;
    }
    friend HostTime operator+(HostTime a, const HostTime& b) { return a += b; }
    friend HostTime operator-(const HostTime& a, const HostTime& b) {
        return {a.clock - b.clock, a.on_core - b.on_core};
    }
};

}  // namespace debubble::exec
