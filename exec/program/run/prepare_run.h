#pragma once

#include "exec/program/run/run_job.h"

namespace debubble::exec {

/// Reads, plans and opens everything that can be wrong before ranks start. Rank 0 prices the plan
/// and predicts the memory, and gives both to the others (share_plan.h). Throws InputError,
/// InvalidSchedule, WorldError.
RunJob prepare_run(const RunRequest& request, const ProcessPlace& place);

/// Reads only the scenario as it was asked for, with its T x C x D x p ranks.
scenarios::Scenario read_for_run(const RunRequest& request);

}  // namespace debubble::exec
