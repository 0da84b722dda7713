#pragma once

#include <memory>

#include "schedule/schedule.h"
#include "sim/engine/cost_model.h"
#include "trace/picture/document/link_table.h"
#include "trace/picture/document/operators.h"
#include "trace/trace.h"

/// The parts of a plan's picture that its trace does not have.
namespace debubble::sim {

class SchedulePrices;

/// The operators of all passes that were priced. A kernel that stands for that of several layers is
/// one part.
std::shared_ptr<const picture::OperatorTable> operators_of(const SchedulePrices& prices,
                                                           const Schedule& schedule);

/// The bytes that the spans of a predicted step send over the links of their rank. A collective
/// inside a pass lies where it begins in the order of the pass's operators; the communication of
/// shards in it is spread over it, and the hidden part of a reduction or a gather lies in the
/// compute that hides it. A collective sends as much as it receives, and of a message only the
/// sending end is counted, so that each lane is one direction of a link. Null where nothing is
/// sent.
std::shared_ptr<const picture::LinkTable> links_of(const SchedulePrices& prices,
                                                   const CostModel& costs, const Trace& trace);

}  // namespace debubble::sim
