#include "sim/commands/terminal/progress_bar.h"

#include <fmt/format.h>

#include "sim/plan/prediction.h"

namespace debubble::sim {

void ChoiceLine::show(std::size_t done, std::size_t all) {
    const std::size_t total = total_;
    const std::string points =
        total > 0 ? fmt::format("{} of {} points; ", done_.load(), total) : std::string();
    line_.show(points + choices_words(done, all));
}

}  // namespace debubble::sim
