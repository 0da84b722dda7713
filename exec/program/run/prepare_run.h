#pragma once

#include "exec/program/run/run_job.h"

namespace debubble::exec {

/// Reads, plans and opens everything that can be wrong before ranks start. Rank 0 prices the plan
/// and predicts the memory; the others hear of both from it (share_plan.h). Throws InputError,
/// InvalidSchedule, WorldError.
RunJob prepare_run(const RunRequest& request, const ProcessPlace& place);

/// The scenario as it was asked for, and T x C x D x p: before the rest is opened.
scenarios::Scenario read_for_run(const RunRequest& request);

}  // namespace debubble::exec
