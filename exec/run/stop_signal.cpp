#include "exec/run/stop_signal.h"

#include <atomic>
#include <csignal>

namespace debubble::exec {

namespace {

constexpr int kStops[] = {SIGINT, SIGTERM, SIGUSR1};
std::atomic<bool> stop_was_asked{false};
static_assert(std::atomic<bool>::is_always_lock_free);

extern "C" void note_stop(int signal) {
    stop_was_asked = true;
    std::signal(signal, SIG_DFL);
}

}  // namespace

StopSignal::StopSignal() {
    stop_was_asked = false;
    for (const int signal : kStops) std::signal(signal, note_stop);
}

StopSignal::~StopSignal() {
    for (const int signal : kStops) std::signal(signal, SIG_DFL);
}

bool StopSignal::came() const {
    return stop_was_asked;
}

}  // namespace debubble::exec
