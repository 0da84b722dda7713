#pragma once

#include "schedule/lower_options.h"
#include "schedule/schedule.h"

/// The passes of lower(), each in a file of this folder. Those after add_send_recv expect its
/// sends; add_unshard_reshard expects the optimizer step.
namespace debubble {

Schedule add_send_recv(Schedule schedule, const LowerOptions& options);
Schedule add_reduce_grad(Schedule schedule, const LowerOptions& options);
Schedule add_tied_grad(Schedule schedule, const LowerOptions& options);
Schedule add_optimizer(Schedule schedule, const LowerOptions& options);
Schedule add_unshard_reshard(Schedule schedule, const LowerOptions& options);
/// Lists receives earlier where a ring of ranks would deadlock because each has sent more than the
/// next one has requested; then every Transport finishes.
Schedule receive_in_time(Schedule schedule);

}  // namespace debubble
