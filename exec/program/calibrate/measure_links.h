#pragma once

#include <map>

#include "exec/core/communicator/communicator.h"
#include "exec/program/calibrate/measure_job.h"
#include "exec/program/calibrate/statistics.h"
#include "scenarios/cluster/measured.h"

/// The time of a communicator's messages of all sizes, fitted as latency + bytes / bandwidth.
namespace debubble::exec {

struct LinkTimings {
    scenarios::MeasuredCollective message;  ///< a message from one rank to another
    std::map<std::pair<models::Collective::Kind, int>, scenarios::MeasuredCollective> collectives;
};

/// Measures messages between ranks 0 and 1, and collectives over the first 2, 4, 8, ... and all of
/// `ranks` threads, while the others wait; between devices if `how` names some. Precondition: there
/// are at least two ranks.
LinkTimings measure_local_links(int ranks, const MeasureOptions& how);

}  // namespace debubble::exec
