#pragma once

#include <chrono>
#include <cmath>
#include <compare>
#include <cstdint>

namespace debubble {

/// Time: whole nanoseconds, so that equal instants compare equal and a run
/// gives the same trace on every machine.
using Duration = std::chrono::nanoseconds;

struct SimClock {
    using duration = Duration;
    using rep = duration::rep;
    using period = duration::period;
    using time_point = std::chrono::time_point<SimClock>;
    static constexpr bool is_steady = true;
};
using Instant = SimClock::time_point;

inline double seconds(Duration d) {
    return static_cast<double>(d.count()) * 1e-9;
}

/// Nearest whole nanosecond. The one place where real seconds become time.
inline Duration from_seconds(double s) {
    return Duration{std::llround(s * 1e9)};
}

struct Bytes {
    std::int64_t count = 0;
    friend constexpr auto operator<=>(const Bytes&, const Bytes&) = default;
    constexpr Bytes& operator+=(Bytes other) {
        count += other.count;
        return *this;
    }
    constexpr Bytes& operator-=(Bytes other) {
        count -= other.count;
        return *this;
    }
    friend constexpr Bytes operator+(Bytes a, Bytes b) { return {a.count + b.count}; }
    friend constexpr Bytes operator-(Bytes a, Bytes b) { return {a.count - b.count}; }
    friend constexpr Bytes operator*(Bytes a, std::int64_t n) { return {a.count * n}; }
    friend constexpr Bytes operator*(std::int64_t n, Bytes a) { return {a.count * n}; }
};

inline constexpr double kGiB = 1024.0 * 1024.0 * 1024.0;  ///< binary; never mixed with 1e9
inline double gib(Bytes b) {
    return static_cast<double>(b.count) / kGiB;
}

struct BytesPerSecond {
    double value = 0;
    friend constexpr auto operator<=>(const BytesPerSecond&, const BytesPerSecond&) = default;
};

/// Time that `size` takes at `rate`. Rounds up: no transfer is free.
inline Duration operator/(Bytes size, BytesPerSecond rate) {
    return Duration{
        static_cast<Duration::rep>(std::ceil(static_cast<double>(size.count) * 1e9 / rate.value))};
}

}  // namespace debubble
