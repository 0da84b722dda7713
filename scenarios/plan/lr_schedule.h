#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

/// The learning rate of every step.
namespace debubble::scenarios {

/// With s optimizer steps taken before, w warm-up steps, T steps in all, and the base rate:
///
///   s < w:     base (f + (1 - f) s / w)                       torch LinearLR, f = start_factor
///   constant:  base
///   linear:    min + (base - min) (T - s) / (T - w)           Hugging Face's linear schedule
///   cosine:    min + (base - min) (1 + cos(pi (s - w) / (T - w))) / 2    torch CosineAnnealingLR
///
/// These are joined as by torch's SequentialLR. From T on the rate stays at min, where torch's
/// cosine would rise again. A step that is skipped for its overflow does not count.
struct LrSchedule {
    enum class Shape : std::uint8_t { Constant, Linear, Cosine };

    Shape shape = Shape::Constant;
    std::int64_t warmup_steps = 0;
    double warmup_start_factor = 1.0 / 3;  ///< that of LinearLR
    /// The end of Linear and Cosine; more than warmup_steps. Unset: after the last step of the run,
    /// which is set before a rate is asked for.
    std::optional<std::int64_t> total_steps = {};
    double min_lr = 0;
    friend bool operator==(const LrSchedule&, const LrSchedule&) = default;

    double rate(double base, std::int64_t steps_taken) const;
};

std::string_view name_of(LrSchedule::Shape shape);

/// A sentence if the warm-up of a schedule whose end is known is wrong.
std::optional<std::string> why_no_warmup(const LrSchedule& schedule);

}  // namespace debubble::scenarios
