#pragma once

#include <functional>
#include <vector>

#include "scenarios/plan/scenario.h"
#include "scenarios/read/sweep.h"
#include "sim/measured/measured_comparison.h"
#include "sim/predict.h"

/// Predictions compared with measured steps, row by row.
namespace debubble::sim {

/// `reserved`: the allocator has to be simulated.
using Predictor = std::function<Prediction(const scenarios::Scenario&, bool reserved)>;

/// Predicts every step under the overrides, on `jobs` threads (0: one per core). Where a row states
/// no micro_batch, or no stages_per_rank of an interleaved schedule, the fastest that fits is
/// taken; likewise the graphs and the dispatcher of a "nemo" release, whose recipes are tuned for
/// their GPUs, if they are among not_stated. Null models are not yet fitted.
std::vector<MeasuredComparison> compare_measured(const std::vector<MeasuredStep>& steps,
                                                 const std::vector<scenarios::Override>& overrides,
                                                 int jobs, const Predictor& predictor);

/// Fits both null models and sets their predictions. A null model is one constant, FLOP/s per GPU
/// for steps and the bandwidth of the bus for collectives, with the least mean absolute error: a
/// prediction with a larger error has no skill.
void fit_null_models(std::vector<MeasuredComparison>& rows);

}  // namespace debubble::sim
