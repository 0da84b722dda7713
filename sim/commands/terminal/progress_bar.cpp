#include "sim/commands/terminal/progress_bar.h"

#include <cstdio>

#include <unistd.h>

#include <fmt/format.h>

#include "sim/commands/terminal/output.h"

namespace debubble::sim {
namespace {

constexpr std::size_t kWidth = 30;
constexpr std::chrono::milliseconds kBetween{100};
constexpr std::chrono::minutes kBetweenLines{1};

}  // namespace

std::string progress_line(std::size_t done, std::size_t total, std::size_t begun,
                          double elapsed_s) {
    const std::size_t filled = total == 0 ? kWidth : kWidth * done / total;
    std::string line = fmt::format("[{}{}] {}/{}", std::string(filled, '#'),
                                   std::string(kWidth - filled, '-'), done, total);
    if (done <= begun || elapsed_s <= 0) return line;
    const double pace = static_cast<double>(done - begun) / elapsed_s;
    return line + fmt::format("  {:.3g}/s  {} left", pace,
                              duration_words(static_cast<double>(total - done) / pace));
}

ProgressBar::ProgressBar()
    : on_terminal_(::isatty(STDERR_FILENO) != 0 && !is_quiet()), start_(Clock::now()) {
    if (!on_terminal_ && !is_quiet()) log_.emplace(stderr, kBetweenLines);
}

ProgressBar::~ProgressBar() {
    if (on_terminal_) std::fputs("\r\033[K", stderr);
}

void ProgressBar::show(std::size_t done, std::size_t total) {
    if (log_) log_->note(done, total);
    if (!on_terminal_) return;
    const auto now = Clock::now();
    if (last_shown_ == Clock::time_point{}) first_done_ = done - 1;
    if (done < total && now - last_shown_ < kBetween) return;
    last_shown_ = now;
    const std::chrono::duration<double> elapsed = now - start_;
    fmt::print(stderr, "\r\033[K{}", progress_line(done, total, first_done_, elapsed.count()));
    std::fflush(stderr);
}

}  // namespace debubble::sim
