#pragma once

#include <functional>
#include <vector>

#include "scenarios/plan/scenario.h"
#include "scenarios/read/sweep.h"
#include "sim/measured/measured_comparison.h"
#include "sim/predict.h"

/// Predictions beside measured steps, row by row.
namespace debubble::sim {

/// `reserved`: the allocator has to be played.
using Predictor = std::function<Prediction(const scenarios::Scenario&, bool reserved)>;

/// Predicts every step under the overrides, on `jobs` threads (0: one per core). Where a row states
/// no micro_batch, or no stages_per_rank of an interleaved schedule, the fastest that fits is
/// taken; and so it is with the graphs and the dispatcher of a "nemo" release, whose recipes are
/// tuned for their GPUs, if they are among not_stated. Null models are not yet fitted.
std::vector<MeasuredComparison> compare_measured(const std::vector<MeasuredStep>& steps,
                                                 const std::vector<scenarios::Override>& overrides,
                                                 int jobs, const Predictor& predictor);

/// Fits both null models and sets what they predict. A null model is one constant, FLOP/s per GPU
/// for steps and the bandwidth of the bus for collectives, that makes its mean absolute error
/// least: a prediction that does worse knows nothing.
void fit_null_models(std::vector<MeasuredComparison>& rows);

}  // namespace debubble::sim
