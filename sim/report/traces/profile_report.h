#pragma once

#include <optional>
#include <string>
#include <vector>

#include "sim/report/traces/compare_profile.h"
#include "trace/profile/runs/profiled_run.h"
#include "trace/statistics.h"

/// The result of `debubble trace`.
namespace debubble::sim {

struct ProfileReport {
    profile::ProfiledRun run;
    int steps = 0;                             ///< in the trace
    Trace step;                                ///< the median one
    Statistics statistics;                     ///< of that step
    std::optional<CompareReport> beside;       ///< the prediction of a scenario for comparison
    std::vector<std::string> beside_left_out;  ///< sentences about actions that are not compared
    std::optional<AsFastAsOthers> what_if;
};

/// The figures of a run as it was read; without spans only the accounts of its devices.
ProfileReport profile_report(profile::ProfiledRun run);

/// How the passes were found, and with which confidence.
std::string evidence_words(const profile::ProfiledRun& run);

/// A page of at most 100 columns.
std::string to_text(const ProfileReport& report);
std::string to_json(const ProfileReport& report);

}  // namespace debubble::sim
