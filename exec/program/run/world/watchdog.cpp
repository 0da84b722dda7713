#include "exec/program/run/stopping.h"

#include <cstdio>
#include <cstdlib>

#include <fmt/format.h>

namespace debubble::exec {

Watchdog::Watchdog(std::chrono::nanoseconds patience)
    : patience_(patience), thread_([this] { watch(); }) {}

Watchdog::~Watchdog() {
    {
        const std::lock_guard lock(mutex_);
        over_ = true;
    }
    changed_.notify_all();
    thread_.join();
}

void Watchdog::failed(const std::string& sentence) {
    {
        const std::lock_guard lock(mutex_);
        if (!sentence_) sentence_ = sentence;
    }
    changed_.notify_all();
}

void Watchdog::watch() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return over_ || sentence_; });
    if (changed_.wait_for(lock, patience_, [&] { return over_; })) return;
    fmt::print(stderr, "error: {}; another rank did not stop\n", *sentence_);
    std::fflush(nullptr);
    std::_Exit(3);
}

}  // namespace debubble::exec
