#pragma once

#include <string>
#include <vector>

#include "scenarios/plan/scenario.h"
#include "sim/anchor/measured_log.h"

namespace debubble::sim {

/// True for a file that read_profile() takes, or a folder.
bool is_profile(const std::string& file);

/// The step, its parts and the greatest allocation of a run of the plan: files of torch.profiler
/// (one per rank), of Nsight Systems, or one that `debubble run --trace` wrote. Of several steps
/// the median one counts. Throws InputError where no passes are found in it.
MeasuredPlan read_profile(const std::vector<std::string>& files, const scenarios::Scenario& plan);

}  // namespace debubble::sim
