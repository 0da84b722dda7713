#pragma once

#include <string>

#include <nlohmann/json.hpp>

#include "exec/program/run/training_loop.h"

namespace debubble::exec {

/// The keys of `simulate --json`, measured, and `losses`: one number per step of this run, before
/// that step's update. Precondition: at least one step was run, and this is global rank 0.
nlohmann::ordered_json run_report(const RunJob& job, const RunOutcome& outcome);

/// The report in some lines for a person.
std::string run_summary(const RunJob& job, const RunOutcome& outcome);

}  // namespace debubble::exec
