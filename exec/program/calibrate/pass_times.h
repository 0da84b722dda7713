#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "models/graph/operator_runs.h"
#include "scenarios/plan/plan.h"
#include "scenarios/plan/scenario.h"
#include "trace/trace.h"

/// Times of operators from the times of whole passes.
namespace debubble::exec {

/// An equation: the operators of a pass of a stage take together what the pass was measured to
/// take.
struct PassTimes {
    std::map<std::pair<std::string, models::Part>, double> operators;  ///< calls by key
    std::vector<double>
        seconds;  ///< measured, of every microbatch and step: they count by their mean
};

/// Operators by key with the time that the cluster's rates give them: where the search begins.
using OperatorTimes = std::map<std::pair<std::string, models::Part>, double>;

struct PassEquations {
    std::vector<PassTimes> passes;
    OperatorTimes by_rates;
};

/// One equation for each stage and kind of pass, from the steps of a trace. Throws InputError
/// naming a pass of the plan that the trace lacks, and for what passes alone do not tell: slices,
/// overlapped passes.
PassEquations pass_equations(const scenarios::Scenario& scenario, const scenarios::Plan& plan,
                             const std::vector<Trace>& steps);

/// Times that meet the equations as well as can be, from those by rates on: each round multiplies
/// an operator's time by the mean ratio of measured to predicted passes, weighted by its share of
/// them (Richardson 1972, Lucy 1974). Shares within a pass that no equation tells apart stay.
OperatorTimes solve(const PassEquations& equations);

}  // namespace debubble::exec
