#pragma once

#include <optional>
#include <string>
#include <vector>

#include "sim/report/traces/beside_prediction.h"
#include "trace/profile/runs/profiled_run.h"
#include "trace/statistics.h"

/// The answer of `debubble trace`.
namespace debubble::sim {

struct ProfileReport {
    profile::ProfiledRun run;
    int steps = 0;                             ///< that the trace holds
    Trace step;                                ///< the median one
    Statistics statistics;                     ///< of that step
    std::optional<CompareReport> beside;       ///< the prediction of a scenario beside it
    std::vector<std::string> beside_left_out;  ///< sentences about what is not compared
    std::optional<AsFastAsOthers> what_if;
};

/// The report of a run as it was read; without spans only the accounts of its devices.
ProfileReport profile_report(profile::ProfiledRun run);

/// How the passes were found, and how sure that is.
std::string evidence_words(const profile::ProfiledRun& run);

/// A page of at most 100 columns.
std::string to_text(const ProfileReport& report);
std::string to_json(const ProfileReport& report);

}  // namespace debubble::sim
