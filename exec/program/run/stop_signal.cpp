#include "exec/program/run/stopping.h"

#include <atomic>

namespace debubble::exec {

namespace {

constexpr int kStops[] = {SIGINT, SIGTERM, SIGUSR1};
std::atomic<bool> stop_was_asked{false};
static_assert(std::atomic<bool>::is_always_lock_free);

extern "C" void note_stop(int signal) {
    stop_was_asked = true;
    std::signal(signal, SIG_DFL);
}

sigset_t stops() {
    sigset_t set;
    sigemptyset(&set);
    for (const int signal : kStops) sigaddset(&set, signal);
    return set;
}

}  // namespace

StopSignal::StopSignal() {
    stop_was_asked = false;
    for (const int signal : kStops) std::signal(signal, note_stop);
    const sigset_t heard = stops();
    ::pthread_sigmask(SIG_BLOCK, &heard, &before_);
    ear_ = std::thread([this] { hear(); });
}

StopSignal::~StopSignal() {
    {
        const std::lock_guard lock(mutex_);
        over_ = true;
    }
    changed_.notify_all();
    ear_.join();
    for (const int signal : kStops) std::signal(signal, SIG_DFL);
    ::pthread_sigmask(SIG_SETMASK, &before_, nullptr);
}

/// The handler interrupts the wait, which then goes on.
void StopSignal::hear() {
    const sigset_t heard = stops();
    ::pthread_sigmask(SIG_UNBLOCK, &heard, nullptr);
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return over_; });
}

bool StopSignal::came() const {
    return stop_was_asked;
}

}  // namespace debubble::exec
