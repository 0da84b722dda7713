#pragma once

#include <vector>

#include "sim/engine/simulate.h"
#include "sim/uneven/uneven_cost_model.h"
#include "sim/uneven/uneven_figures.h"
#include "trace/statistics.h"

/// Steps with drawn loads, simulated in parallel.
namespace debubble::sim {

/// The drawn step of this share from the shortest: nearest rank. Precondition: there are steps.
Duration quantile(std::vector<Duration> steps, double share);

/// Fills in the median and the 95th percentile of the drawn steps. Precondition: there are some.
void sum_up(UnevenSteps& steps);

/// Begins the list of slow ranks with the slowest, whose cost is not known yet.
void slowest_of(UnevenSteps& steps, const scenarios::Imbalance& imbalance);

/// Simulates every draw of the scenario's imbalance, on `jobs` threads (0: one per core), and a
/// step of the costs `even`. For the same scenario the result is the same for any number of
/// threads. Throws Cancelled soon after `how.stop`.
UnevenSteps play_draws(const LoadCurves& curves, const CostModel& even, const Program& program,
                       const SimulateOptions& how, int jobs = 0);

/// Gives the cause UnevenLoad to that part of a wait for another rank's compute which the same wait
/// lacks when the program is simulated with even loads.
void blame_uneven_loads(Statistics& statistics, const Trace& trace, const Statistics& even,
                        const Trace& even_trace);

}  // namespace debubble::sim
