#include "base/command_line/progress_line.h"

#include <utility>

#include <unistd.h>

#include <fmt/format.h>

namespace debubble {
namespace {

using std::chrono::milliseconds;

constexpr milliseconds kSilence{1000};
constexpr milliseconds kBetweenOnTerminal{100};
constexpr milliseconds kBetweenLines{10'000};

}  // namespace

ProgressLine::ProgressLine(bool quiet)
    : ProgressLine(quiet ? nullptr : stderr, ::isatty(STDERR_FILENO) != 0, Clock::now) {}

ProgressLine::ProgressLine(std::FILE* out, bool on_terminal, std::function<Clock::time_point()> now)
    : out_(out), on_terminal_(on_terminal), now_(std::move(now)) {
    restart();
}

ProgressLine::~ProgressLine() {
    if (written_ && on_terminal_) std::fputs("\r\033[K", out_);
}

void ProgressLine::restart() {
    const std::lock_guard lock(mutex_);
    due_ = now_() + (on_terminal_ ? kSilence : kBetweenLines);
}

void ProgressLine::show(std::string_view words) {
    if (out_ == nullptr) return;
    const std::lock_guard lock(mutex_);
    const Clock::time_point now = now_();
    if (now < due_) return;
    if (on_terminal_)
        fmt::print(out_, "\r\033[K{}", words);
    else
        fmt::print(out_, "{}\n", words);
    std::fflush(out_);
    written_ = true;
    due_ = now + (on_terminal_ ? kBetweenOnTerminal : kBetweenLines);
}

}  // namespace debubble
