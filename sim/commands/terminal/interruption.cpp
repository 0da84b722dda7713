#include "sim/commands/terminal/output.h"

#include <csignal>
#include <cstdio>
#include <cstdlib>

namespace debubble::sim {
namespace {

std::atomic<bool> interrupted{false};
std::atomic<int> by_signal{0};
static_assert(std::atomic<bool>::is_always_lock_free && std::atomic<int>::is_always_lock_free);

extern "C" void note_signal(int signal) {
    by_signal = signal;
    interrupted = true;
    std::signal(signal, SIG_DFL);  // a second Ctrl-C ends at once
}

}  // namespace

Interruption::Interruption() {
    interrupted = false;
    std::signal(SIGINT, note_signal);
    std::signal(SIGTERM, note_signal);
}

Interruption::~Interruption() {
    std::signal(SIGINT, SIG_DFL);
    std::signal(SIGTERM, SIG_DFL);
}

const std::atomic<bool>& Interruption::flag() const {
    return interrupted;
}

void Interruption::end_by_signal() {
    std::fflush(nullptr);
    std::signal(by_signal, SIG_DFL);
    std::raise(by_signal);
    std::abort();
}

}  // namespace debubble::sim
