#pragma once

#include "exec/program/run/run_request.h"
#include "scenarios/plan.h"

namespace debubble::exec {

/// The plan of a run. A generator that looks at costs needs them predicted, and this program
/// cannot predict: then `debubble simulate` beside it makes the Program, and the trace that it
/// writes brings it here. Throws WorldError if that program is missing or fails.
scenarios::Plan plan_for_run(const RunRequest& request, const scenarios::Scenario& scenario);

}  // namespace debubble::exec
