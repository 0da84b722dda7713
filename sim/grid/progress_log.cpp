#include "sim/grid/progress_log.h"

#include <fmt/format.h>

namespace debubble::sim {

std::string duration_words(double s) {
    if (s >= 3600) return fmt::format("{:.1f} h", s / 3600);
    const int whole = static_cast<int>(s + 0.5);
    if (whole >= 60) return fmt::format("{} min {:02} s", whole / 60, whole % 60);
    return fmt::format("{} s", whole);
}

std::string progress_words(std::size_t done, std::size_t total, std::size_t begun,
                           double elapsed_s) {
    if (total == 0) return fmt::format("no point is done after {}", duration_words(elapsed_s));
    const std::string words = fmt::format("{} of {} points", done, total);
    if (done <= begun || elapsed_s <= 0) return words;
    const double pace = static_cast<double>(done - begun) / elapsed_s;
    return words + fmt::format(", {:.3g}/s, {} left", pace,
                               duration_words(static_cast<double>(total - done) / pace));
}

ProgressLog::ProgressLog(std::FILE* log, std::chrono::milliseconds between)
    : writer_(
          [this, log, between](const std::stop_token& stop) { write_until(stop, log, between); }) {}

void ProgressLog::write_until(const std::stop_token& stop, std::FILE* log,
                              std::chrono::milliseconds between) {
    std::unique_lock lock(mutex_);
    while (!stopped_.wait_for(lock, stop, between, [&] { return stop.stop_requested(); })) {
        if (stop.stop_requested()) return;
        const std::chrono::duration<double> elapsed = Clock::now() - start_;
        fmt::print(log, "{}\n", progress_words(done_, total_, first_done_, elapsed.count()));
        std::fflush(log);
    }
}

void ProgressLog::note(std::size_t done, std::size_t total) {
    const std::lock_guard lock(mutex_);
    if (total_ == 0) first_done_ = done - 1;
    done_ = done;
    total_ = total;
}

}  // namespace debubble::sim
