#pragma once

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <optional>
#include <string>
#include <thread>

namespace debubble::exec {

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
