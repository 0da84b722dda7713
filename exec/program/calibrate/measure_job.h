#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "exec/core/rank/rank_job.h"
#include "exec/program/calibrate/device_sweep.h"
#include "models/graph/operator_runs.h"
#include "scenarios/plan/scenario.h"

/// Timings of a training as it runs: all ranks at the same time, so that they share the machine.
namespace debubble::exec {

/// Timings in seconds. Every list holds values of the same quantity, in no order.
struct JobTimings {
    using OperatorKey = std::pair<std::string, models::Part>;  ///< signature and part
    /// The means of each rank and step instead of single calls: the time of a step is a sum, and
    /// layers of one signature differ by what their caches hold.
    std::map<OperatorKey, std::vector<double>> operators;
    /// For each rank and step, the mean time of a pass outside its operators, including the time
    /// until the next pass.
    std::vector<double> pass_overheads;
    std::vector<double> optimizer;  ///< seconds per element that is stepped
    std::vector<double> zero;       ///< seconds per gradient that is held, before the first pass
    std::vector<double> norm;       ///< seconds per element, where the Program takes the norm
    /// For each step, the time of a training between it and the next one, on the rank that all
    /// others have waited for.
    std::vector<double> step_overheads;
    /// The median over steps of the share of the passes for which the thread had a core, of the
    /// rank that was worst off; unset if no rank was disturbed, or a device computes.
    std::optional<double> core_share;
    ProductChoices products;  ///< the algorithms that were the fastest on a rank's device

    void add(JobTimings&& other);
};

struct MeasureOptions {
    std::string kernels = "auto";  ///< auto, onednn or fixed-order
    int threads = 1;               ///< threads of each rank
    /// Steps that are not timed: 3 where nothing is said, and 30 of a mixture of experts, whose
    /// router sends most tokens to a few experts until it has learned, which takes less time.
    std::optional<int> warm_up = {};
    /// Steps that are timed; the default is 10, and 30 for a mixture of experts.
    std::optional<int> steps = {};
    std::chrono::nanoseconds patience = std::chrono::minutes(5);
    /// Makes the device that computes instead of the processor, for a rank of `ranks`, on the
    /// rank's thread. `kernels` and `threads` are then not used.
    std::function<std::shared_ptr<Device>(int rank, int ranks)> device = {};
    int gpus = 1;            ///< GPUs that those devices are on
    SweepLimits sweep = {};  ///< limits of that device's sweep
};

/// Trains the scenario with its own Program, with every rank as a thread, on its own data if it has
/// some, else on random data: a router sends the tokens of a language to other experts than random
/// ones, which changes the time of products with few rows. Throws InputError for a scenario that
/// the executor cannot run.
JobTimings measure_job(const scenarios::Scenario& scenario, const MeasureOptions& how);

}  // namespace debubble::exec
