#include "exec/run/stop_signal.h"

#include <atomic>
#include <csignal>

namespace debubble::exec {

namespace {

std::atomic<bool> stop_was_asked{false};
static_assert(std::atomic<bool>::is_always_lock_free);

extern "C" void note_stop(int signal) {
    stop_was_asked = true;
    std::signal(signal, SIG_DFL);
}

}  // namespace

StopSignal::StopSignal() {
    stop_was_asked = false;
    std::signal(SIGINT, note_stop);
    std::signal(SIGTERM, note_stop);
}

StopSignal::~StopSignal() {
    std::signal(SIGINT, SIG_DFL);
    std::signal(SIGTERM, SIG_DFL);
}

bool StopSignal::came() const {
    return stop_was_asked;
}

}  // namespace debubble::exec
