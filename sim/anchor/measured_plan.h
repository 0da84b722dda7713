#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/ids.h"
#include "base/units.h"
#include "scenarios/plan/scenario.h"

/// Measurements of one plan, from logs and from profiles.
namespace debubble::sim {

/// The parts of a measured step, in the mean over the recorded pipeline ranks.
struct StepParts {
    std::vector<Rank> ranks;
    double compute_s = 0;  ///< kernels, the optimizer's too
    double exposed_s = 0;  ///< communication that no kernel overlaps
    double idle_s = 0;     ///< bubbles and idle time due to the host
};

/// The figures that a training measured of itself; at least one figure is known.
struct MeasuredPlan {
    std::optional<double> step_s;
    std::optional<double> tokens_per_s_per_gpu;
    std::optional<double> tflops_per_gpu;  ///< as its framework prints it, without recomputation
    std::optional<Bytes> allocated;        ///< at the peak
    std::optional<Bytes> reserved;
    std::optional<StepParts> parts;

    bool says_anything() const {
        return step_s || tokens_per_s_per_gpu || tflops_per_gpu || allocated || reserved;
    }
    /// Takes the figures that `other` has and this does not.
    void fill_from(const MeasuredPlan& other);
};

/// The figures in lines that Megatron-LM ("elapsed time per iteration (ms): 15396.6", "max
/// allocated: 61234.5"), torchtitan ("memory: 73.30GiB(77%)  tps: 11,600") and Primus ("tokens per
/// GPU (tokens/s/GPU): 11600.2/11611.0") print, or in similar words ("mem 73.3 GiB, 11,600 tps").
/// Of several lines the median time counts, without the first line if there are more than two,
/// whose step compiles and allocates; and the greatest memory.
MeasuredPlan read_log(const std::string& text);

/// True for a file that read_profile() takes, or a folder.
bool is_profile(const std::string& file);

/// The step, its parts and the greatest allocation of a run of the plan: files of torch.profiler
/// (one per rank), of Nsight Systems, or one that `debubble run --trace` wrote. Of several steps
/// the median one counts. Throws InputError where no passes are found in it.
MeasuredPlan read_profile(const std::vector<std::string>& files, const scenarios::Scenario& plan);

}  // namespace debubble::sim
