#pragma once

#include <algorithm>
#include <ctime>

#include <QObject>
#include <QTimer>

namespace debubble::gui {

/// Measures the longest stall of this thread's event loop: a timer fires as often as the loop
/// allows, and the processor time of the thread between two firings is that of one iteration of the
/// loop. It is processor time, since other programs may use the processor at any time.
class StallWatcher : public QObject {
public:
    StallWatcher() {
        connect(&heart_, &QTimer::timeout, this, [this] { beat(); });
        heart_.start(0);
        last_ = now();
    }

    /// Milliseconds of the longest stall until now.
    double longest_ms() {
        beat();
        return longest_ms_;
    }
    int beats() const { return beats_; }

private:
    static double now() {
        timespec time{};
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
        return 1e3 * double(time.tv_sec) + 1e-6 * double(time.tv_nsec);
    }
    void beat() {
        const double at = now();
        longest_ms_ = std::max(longest_ms_, at - last_);
        last_ = at;
        ++beats_;
    }

    QTimer heart_;
    double last_ = 0;
    double longest_ms_ = 0;
    int beats_ = 0;
};

}  // namespace debubble::gui
