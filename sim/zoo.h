#pragma once

#include <functional>
#include <optional>
#include <set>
#include <stop_token>
#include <string>
#include <vector>

#include "base/units.h"
#include "scenarios/plan/scenario.h"
#include "sim/small_timeline.h"

/// Every schedule that a plan could have, beside each other.
namespace debubble::sim {

struct ZooRow {
    std::string schedule;
    std::string summary;      ///< the schedule in a line
    int stages_per_rank = 1;  ///< the number with which its step is shortest, those that fit first
    std::optional<std::string> why_not = {};  ///< the reason why the plan cannot have it
    double step_s = 0;
    double bubble = 0;
    double exposed = 0;  ///< share of the step, as the mean over the ranks
    Bytes peak = {};
    bool fits = false;
    bool present = false;  ///< the one that the plan has
    SmallTimeline picture = {};
    bool possible() const { return !why_not; }
};

/// The plans among which the rows choose.
struct ZooRequest {
    /// The plan with a schedule and a number of stages per rank. Throws InputError where it cannot
    /// have them. Called by several threads.
    std::function<scenarios::Scenario(const std::string& schedule, int stages_per_rank)> plan_with;
    std::string present;     ///< the schedule that the plan has
    std::set<int> stages{};  ///< numbers of stages per rank to try besides 1, 2 and 4
};

/// The rows in the order of a person's interest: those that fit by their step, then those that are
/// out of memory, then those that cannot be had. Predicts some fifty plans on all cores, as nobody
/// waits for less; pure and thread-safe. Throws Cancelled soon after they are no longer wanted.
std::vector<ZooRow> schedule_zoo(const ZooRequest& request, const std::stop_token& stop = {});

}  // namespace debubble::sim
