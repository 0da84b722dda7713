#pragma once

#include <string>
#include <vector>

#include "schedule/placement.h"
#include "sim/engine/cost_model.h"
#include "sim/plan/prediction.h"
#include "trace/statistics.h"

/// The communication of a step by its purpose, and its exposed part.
namespace debubble::sim {

/// Divides the exposed communication of every rank by its purpose, so that no second is lost, and
/// adds the hidden time and the bytes. Inside a compute the proportions are those of its price; the
/// part that a pair hides is taken from the kinds that it hides, and time by which a compute
/// exceeds its price, since others use its links, is divided by all of its communication. The
/// hidden part of communication between computes is its time alone less its exposed time. The spans
/// of the trace get their part of it (Trace::exposed_by). Precondition: `ranks` are those of the
/// statistics.
void fill_communication(std::vector<RankPrediction>& ranks, Trace& trace,
                        const Statistics& statistics, const Placement& placement,
                        const CostModel& costs);

/// The exposed seconds in whole nanoseconds, which add up to `all`; none if there are none.
DurationByKind whole_parts(const TimeByKind& time, Duration all);

/// The mean over the ranks.
TimeByKind mean_communication(const Prediction& prediction);

/// Bytes over the time of their communication, for a kind with a time.
double rate_of(const KindTime& time);

/// The kind in full, for people: "expert parallel".
std::string words_of(CommunicationKind kind);

}  // namespace debubble::sim
