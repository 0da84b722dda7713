#pragma once

#include <chrono>
#include <cmath>
#include <compare>
#include <cstdint>

namespace debubble {

/// Time: whole nanoseconds, so that equal instants compare equal and a run gives the same trace on
/// every machine.
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

/// The longest time that is accepted, some eleven days: the sum over a step of all ranks stays far
/// below 2^63 nanoseconds.
inline constexpr double kLongestSeconds = 1e6;

/// Throws InputError: a step of such a length results from mistaken rates and sizes.
[[noreturn]] void refuse_time(double s);

/// The nearest whole nanosecond. This is the one place where real seconds become time. Throws
/// InputError if `s` is longer than kLongestSeconds, or not a number.
inline Duration from_seconds(double s) {
    if (!(std::abs(s) <= kLongestSeconds)) refuse_time(s);
    return Duration{std::llround(s * 1e9)};
}

/// The same time. Throws InputError if it is longer than kLongestSeconds: apply it to every sum
/// that may have many terms.
inline Duration checked(Duration d) {
    if (std::abs(seconds(d)) > kLongestSeconds) refuse_time(seconds(d));
    return d;
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

/// The time to transfer `size` at `rate`. Rounds up: no transfer is free. Throws as from_seconds
/// does.
inline Duration operator/(Bytes size, BytesPerSecond rate) {
    const double nanoseconds = static_cast<double>(size.count) * 1e9 / rate.value;
    if (!(nanoseconds <= kLongestSeconds * 1e9)) refuse_time(nanoseconds * 1e-9);
    return Duration{static_cast<Duration::rep>(std::ceil(nanoseconds))};
}

}  // namespace debubble
