#pragma once

#include <cstdint>

/// The learning rate of every step.
namespace debubble::exec {

/// With s optimizer steps taken before, w warm-up steps, T steps in all, and the base rate:
///
///   s < w:     base (f + (1 - f) s / w)                       torch LinearLR, f = start_factor
///   constant:  base
///   linear:    min + (base - min) (T - s) / (T - w)           Hugging Face's linear schedule
///   cosine:    min + (base - min) (1 + cos(pi (s - w) / (T - w))) / 2    torch CosineAnnealingLR
///
/// as torch's SequentialLR puts them together. From T on the rate stays at min, where torch's
/// cosine would rise again. A step that is skipped for its overflow does not count.
struct LrSchedule {
    enum class Shape : std::uint8_t { Constant, Linear, Cosine };

    Shape shape = Shape::Constant;
    std::int64_t warmup_steps = 0;
    double warmup_start_factor = 1.0 / 3;  ///< LinearLR's
    std::int64_t total_steps = 0;          ///< of Linear and Cosine; more than warmup_steps
    double min_lr = 0;
    friend bool operator==(const LrSchedule&, const LrSchedule&) = default;

    double rate(double base, std::int64_t steps_taken) const;
};

}  // namespace debubble::exec
