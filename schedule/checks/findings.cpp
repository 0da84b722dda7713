#include "schedule/checks/checks.h"

#include <fmt/format.h>

namespace debubble {

std::vector<Violation> Findings::take() && {
    if (left_out_ > 0) {
        const Violation last = violations_.back();
        violations_.push_back({last.kind, last.rank, last.position,
                               fmt::format("{} more violations are not listed", left_out_)});
    }
    return std::move(violations_);
}

}  // namespace debubble
