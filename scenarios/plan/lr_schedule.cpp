#include "scenarios/plan/lr_schedule.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include <fmt/format.h>

namespace debubble::scenarios {

double LrSchedule::rate(double base, std::int64_t steps_taken) const {
    const auto s = static_cast<double>(steps_taken);
    const auto w = static_cast<double>(warmup_steps);
    if (steps_taken < warmup_steps)
        return base * (warmup_start_factor + (1 - warmup_start_factor) * s / w);
    if (shape == Shape::Constant) return base;
    const double progress = std::min(1.0, (s - w) / (static_cast<double>(total_steps.value()) - w));
    const double left =
        shape == Shape::Linear ? 1 - progress : (1 + std::cos(std::numbers::pi * progress)) / 2;
    return min_lr + (base - min_lr) * left;
}

std::string_view name_of(LrSchedule::Shape shape) {
    switch (shape) {
        case LrSchedule::Shape::Constant: return "constant";
        case LrSchedule::Shape::Linear: return "linear";
        case LrSchedule::Shape::Cosine: return "cosine";
    }
    return "";
}

std::optional<std::string> why_no_warmup(const LrSchedule& schedule) {
    if (schedule.shape == LrSchedule::Shape::Constant ||
        schedule.warmup_steps < schedule.total_steps.value())
        return {};
    return fmt::format("'lr_schedule.warmup_steps' is {}, but the schedule ends after {} steps",
                       schedule.warmup_steps, *schedule.total_steps);
}

}  // namespace debubble::scenarios
