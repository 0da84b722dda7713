#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/purposes.h"
#include "exec/core/device.h"
#include "exec/core/training/rank_training.h"
#include "tests/exec/support/global_tensors.h"

/// Training without a network: Programs run with gradients that are made up, so that state,
/// reductions, norm and optimizer can be compared over all layouts to the last bit.
namespace debubble::exec {

/// The results on which every layout of a job must agree. Gradients are small multiples of 1/64, so
/// that their sums are exact in fp32 in any order; with `rough` they are any numbers.
struct Layout {
    std::string parallel;  ///< the scenario's key, such as "{data: 2, zero_stage: 1}"
    std::string model = "gpt2";
    std::string schedule = "1f1b";
    std::string precision = "fp32";
    std::string training = {};  ///< more keys, a line each: "clip_norm: 1"
    bool post_validation = false;
    bool rough = false;
    std::vector<int> overflowing_steps = {};  ///< one element on one rank is infinite there
    /// For a rank, on its thread; without one the processor computes. A device has no experts here.
    std::unique_ptr<Device> (*device)(int rank, int ranks) = nullptr;
    friend void PrintTo(const Layout& layout, std::ostream* out) {
        *out << layout.model << ' ' << layout.schedule << ' ' << layout.precision << ' '
             << layout.parallel;
    }
};

scenarios::Scenario scenario_of(const Layout& layout);

struct JobResult {
    GlobalTensors weights;  ///< main parameters, where there are such
    std::vector<StepOutcome> outcomes;
    std::vector<MemoryByClass> held;  ///< by global rank, before the first step
    bool copies_agree = true;  ///< whether passes would compute with those weights on all ranks
};

/// Where a job goes on from, and what it leaves.
struct JobCheckpoint {
    std::string load_from;  ///< folder of a run; its step 1 is loaded
    std::string save_to;
    int first_step = 0;
    Wanted wanted = Wanted::Everything;
};

JobResult run_job(const Layout& layout, int steps, const JobCheckpoint& checkpoint = {});

/// The global gradient of a step, summed in double from what each microbatch contributes.
std::map<std::string, std::vector<double>> global_gradient(const Layout& layout, int step);

}  // namespace debubble::exec
