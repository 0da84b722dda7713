#include "sim/commands/progress_bar.h"

#include <cstdio>

#include <unistd.h>

#include <fmt/format.h>

#include "sim/chosen_recompute.h"
#include "sim/commands/style.h"

namespace debubble::sim {
namespace {

constexpr std::size_t kWidth = 30;
constexpr std::chrono::milliseconds kBetween{100};  ///< on a terminal
constexpr std::chrono::minutes kBetweenLines{1};
constexpr std::chrono::milliseconds kLongPoint{1000};
constexpr std::chrono::seconds kBetweenChoices{10};  ///< without a terminal

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
    : quiet_(is_quiet()),
      on_terminal_(::isatty(STDERR_FILENO) != 0),
      start_(Clock::now()),
      last_point_(start_) {
    if (!on_terminal_ && !quiet_) log_.emplace(stderr, kBetweenLines);
}

ProgressBar::~ProgressBar() {
    if (on_terminal_ && !quiet_) std::fputs("\r\033[K", stderr);
}

void ProgressBar::write(const std::string& line) {
    last_written_ = Clock::now();
    if (on_terminal_)
        fmt::print(stderr, "\r\033[K{}", line);
    else
        fmt::print(stderr, "{}\n", line);
    std::fflush(stderr);
}

void ProgressBar::show(std::size_t done, std::size_t total) {
    if (quiet_) return;
    if (log_) log_->note(done, total);
    const std::lock_guard lock(mutex_);
    if (line_.empty()) first_done_ = done - 1;
    last_point_ = Clock::now();
    const std::chrono::duration<double> elapsed = last_point_ - start_;
    line_ = progress_line(done, total, first_done_, elapsed.count());
    if (on_terminal_ && (done == total || last_point_ - last_written_ >= kBetween)) write(line_);
}

void ProgressBar::choosing(std::size_t done, std::size_t all) {
    if (quiet_) return;
    const std::lock_guard lock(mutex_);
    const auto now = Clock::now();
    if (now - last_point_ < (on_terminal_ ? kLongPoint : kBetweenChoices)) return;
    if (now - last_written_ < (on_terminal_ ? kBetween : kBetweenChoices)) return;
    write(fmt::format("{}{}{}", line_, line_.empty() ? "" : "  ", choices_words(done, all)));
}

}  // namespace debubble::sim
