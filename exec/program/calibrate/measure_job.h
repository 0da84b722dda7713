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
#include "models/visits.h"
#include "scenarios/scenario.h"

/// Timings of a training as it runs: all ranks at once, so that they share the machine.
namespace debubble::exec {

/// Seconds. Every list is of equal things, in no order.
struct JobTimings {
    using OperatorKey = std::pair<std::string, models::Part>;  ///< signature and part
    /// The means of each rank and step, not single calls: what a step takes is a sum, and layers
    /// of one signature differ by what their caches hold.
    std::map<OperatorKey, std::vector<double>> operators;
    /// Of each rank and step, the mean of what its passes take beyond their operators, with the
    /// way from one to the next.
    std::vector<double> pass_overheads;
    std::vector<double> optimizer;  ///< per element: zeroing its gradient and stepping
    std::vector<double> norm;       ///< per element, where the Program takes the norm
    std::vector<double> step_overheads;

    void add(JobTimings&& other);
};

struct MeasureOptions {
    std::string kernels = "auto";  ///< auto, onednn or fixed-order
    int threads = 1;               ///< of each rank
    /// Steps that are not timed: 3 where nothing is said, and 30 of a mixture of experts, whose
    /// router sends most tokens to a few experts until it has learned, which takes less time.
    std::optional<int> warm_up = {};
    std::optional<int> steps = {};  ///< that are timed: 10, and 30 of a mixture of experts
    std::chrono::nanoseconds patience = std::chrono::minutes(5);
    /// For a rank of so many, on its thread: what computes instead of the processor. `kernels`
    /// and `threads` then mean nothing.
    std::function<std::shared_ptr<Device>(int rank, int ranks)> device = {};
    SweepLimits sweep = {};  ///< of that device
};

/// Trains the scenario with its own Program, every rank a thread, on its own data where it has some
/// (a router sends the tokens of a language to other experts than random ones, which a product of
/// so many rows feels), else on random data. Throws InputError for what the executor cannot run.
JobTimings measure_job(const scenarios::Scenario& scenario, const MeasureOptions& how);

}  // namespace debubble::exec
