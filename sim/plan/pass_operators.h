#pragma once

#include <memory>

#include "schedule/schedule.h"
#include "trace/picture/document/operators.h"

namespace debubble::sim {

class SchedulePrices;

/// The operators of all passes that were priced, for pictures. A kernel that stands for that of
/// several layers is one part.
std::shared_ptr<const picture::OperatorTable> operators_of(const SchedulePrices& prices,
                                                           const Schedule& schedule);

}  // namespace debubble::sim
