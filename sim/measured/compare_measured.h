#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "scenarios/plan/scenario.h"
#include "scenarios/read/sweep.h"
#include "sim/measured/measured_table.h"
#include "sim/plan/prediction.h"
#include "sim/predict.h"

/// Predictions compared with measured steps, collectives and kernels, row by row.
namespace debubble::sim {

/// A measured figure and its prediction.
struct Compared {
    double measured = 0;
    double predicted = 0;
    double error() const { return predicted / measured - 1; }  ///< as a share
};

struct MeasuredComparison {
    MeasuredStep step;
    /// The reason why the row cannot be predicted: an unknown key or name, or a plan that debubble
    /// refuses. Unset for a predicted row.
    std::optional<std::string> unsaid;
    std::string chosen;  ///< "micro_batch 2", where the row does not state it
    bool fits = false;   ///< the device has room for it, as predicted
    MemoryVerdict memory_verdict = MemoryVerdict::Fits;
    std::optional<StepClass> like;        ///< class of its step; unset for a collective
    std::string gpu;                      ///< name of the cluster, whose GPUs are of one type
    std::optional<Compared> time;         ///< seconds of a step, or of a collective
    std::optional<Compared> memory;       ///< GiB of the rank and kind that were measured
    std::optional<Compared> held;         ///< GiB between two steps
    std::optional<Compared> activations;  ///< GiB
    /// FLOPs per GPU and step, recomputation included, or bytes on the bus of a GPU: the work that
    /// a null model divides by its rate.
    double work = 0;
    double null_s = 0;  ///< by the rate per GPU with the best fit to all compared rows of its kind
    std::optional<double> null_of_others_s;  ///< by the rate with the best fit to the other rows of
                                             ///< its GPU
};

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

/// Predicts the collective of a row whose scenario is {cluster, gpus, collective, bytes}: one group
/// of the first `gpus` GPUs of the cluster, and `bytes` of the whole tensor, as nccl-tests count
/// them. `work` is the number of bytes on its bus (nccl-tests, doc/PERFORMANCE.md).
MeasuredComparison compare_collective(const MeasuredStep& step);

/// Prices the kernel of a row whose scenario is {cluster, kernel, dtype, shape, measures}
/// (scenarios/cluster/kernel_table.h): at the clock of short runs where it measures a burst, else
/// at the clock of steps. `work` is the number of its FLOPs.
MeasuredComparison compare_kernel(const MeasuredStep& step);

}  // namespace debubble::sim
