#pragma once

#include <optional>
#include <string>
#include <vector>

#include "sim/report/plan_page.h"
#include "sim/report/traces/compare_report.h"
#include "trace/page/page.h"
#include "trace/profile/runs/profiled_run.h"
#include "trace/statistics.h"
#include "trace/trace.h"

/// A run that a profiler recorded, compared with the prediction of its plan, in figures and as a
/// page.
namespace debubble::sim {

/// Both traces reduced to their common kinds of actions, under one program: a profiler does not see
/// releases of memory, and reductions in buckets are many where a plan has one.
struct OnCommonGround {
    Trace simulated;
    Trace executed;
    std::vector<std::string> left_out;  ///< sentences about actions that are not compared
};
OnCommonGround on_common_ground(const Trace& simulated, const Trace& executed,
                                const Program& program);

/// The figures of a run if some of its ranks computed as fast as the others do on average: the
/// program simulated with the measured durations, and again with those of the ranks replaced.
struct AsFastAsOthers {
    std::vector<Rank> ranks;
    StepFigures as_measured;  ///< of the replay
    StepFigures levelled;
};

/// A pass of a named rank takes the median of its kind (F, B, I, W) on the other ranks, if that is
/// shorter. Throws InputError for a rank that the trace lacks, if no other rank has such passes, or
/// if the trace has no program to replay.
AsFastAsOthers as_fast_as_others(const Trace& executed, const std::vector<Rank>& ranks);

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

struct HeldBytes {
    Instant at;
    Bytes held;
    friend bool operator==(const HeldBytes&, const HeldBytes&) = default;
};

struct RankMemory {
    Rank rank;
    Bytes peak;
    Instant at;          ///< since the trace's first action
    std::string action;  ///< the action that ran at the peak; empty between actions
    /// The sum of all classes over time, at most kMostHeldPoints, with the greatest among them: a
    /// point represents itself and the points left out after it.
    std::vector<HeldBytes> held;
};
inline constexpr std::size_t kMostHeldPoints = 512;

/// By rank; nothing for a rank without recorded memory.
std::vector<RankMemory> memory_of_ranks(const Trace& trace);

/// Two traces, one above the other: the median step of each, and the comparison in figures.
page::Page page_of(const Trace& first, const Trace& second, const CompareReport& report);

/// The median step of a profiled run, and its figures.
page::Page page_of(const ProfileReport& report, const PlanOnPage* predicted = nullptr);

}  // namespace debubble::sim
