#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <variant>

#include "exec/core/operator_options.h"
#include "exec/core/training/loss_scaler.h"
#include "exec/core/training/lr_schedule.h"
#include "scenarios/scenario.h"

namespace debubble::exec {

using OptimizerOptions = std::variant<AdamOptions, SgdOptions>;
double lr_of(const OptimizerOptions& optimizer);
/// How many numbers it keeps per parameter.
int moments_of(const OptimizerOptions& optimizer);

struct CheckpointOptions {
    std::string dir;
    std::optional<std::int64_t> every;  ///< steps; unset: at the end only
    int keep = 0;                       ///< the latest so many; 0 keeps all
    friend bool operator==(const CheckpointOptions&, const CheckpointOptions&) = default;
};

/// How a run trains, as the scenario's training keys say it.
struct TrainingOptions {
    std::optional<std::int64_t> steps;   ///< the number of the last one
    std::optional<std::int64_t> epochs;  ///< one of the two at most
    std::uint64_t seed = 0;
    std::string init_from;  ///< Hugging Face folder or checkpoint; empty: random weights
    OptimizerOptions optimizer = AdamOptions{};
    LrSchedule lr_schedule;
    std::optional<double> clip_norm;              ///< of the global gradient
    std::optional<LossScaleOptions> loss_scale;   ///< set when the precision scales its loss
    std::optional<CheckpointOptions> checkpoint;  ///< unset: none are saved
    std::optional<std::int64_t> eval_interval;    ///< steps; unset: at the end only
    std::optional<std::int64_t> eval_iters;       ///< global batches of `data.eval`; unset: all
};

/// Throws InputError that lists every mistake in words: keys that are right by themselves (the
/// scenario's reader has seen to that) but not together.
TrainingOptions read_training_options(const scenarios::Scenario& scenario);

}  // namespace debubble::exec
