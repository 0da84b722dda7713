#pragma once

#include <optional>
#include <string>
#include <vector>

#include "scenarios/cluster/cluster.h"
#include "scenarios/plan/plan.h"
#include "scenarios/plan/scenario.h"
#include "trace/trace.h"

/// `debubble calibrate --from-trace`: the figures of a cluster from a run on it.
namespace debubble::exec {

struct FromTrace {
    scenarios::Cluster cluster;
    double traced_step_s = 0;     ///< the mean of the trace's typical steps
    double predicted_step_s = 0;  ///< of the same job by the new figures
    /// What a scenario has to set for that prediction, KEY=VALUE, if anything.
    std::optional<std::string> set;
    std::vector<std::string> notes;
};

/// The plan of a scenario, as predict() plays it.
scenarios::Plan plan_of(const scenarios::Scenario& scenario);

/// The scenario's cluster with times of operators, of messages, of collectives inside a node and of
/// the optimizer such as the trace's typical steps have them (trace_figures.h): passes by the
/// equations of pass_times.h, the rest by proportion, the host's times before passes, before
/// messages and between steps as they are. Every figure is a mean of its own and none is fitted to
/// the step's length: what the prediction then differs by is what the plan does not explain. Throws
/// InputError where the trace is of another plan.
FromTrace cluster_from_trace(const scenarios::Scenario& scenario, const Trace& executed,
                             const std::string& name);

}  // namespace debubble::exec
