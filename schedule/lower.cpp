#include "schedule/lower.h"

#include <utility>

namespace debubble {

Program lower(Schedule schedule, const LowerOptions& options) {
    schedule = add_send_recv(std::move(schedule), options);
    schedule = add_recompute(std::move(schedule), options);
    schedule = add_offload(std::move(schedule), options);
    schedule = add_reduce_grad(std::move(schedule), options);
    schedule = add_tied_grad(std::move(schedule), options);
    schedule = add_optimizer(std::move(schedule), options);
    schedule = add_unshard_reshard(std::move(schedule), options);
    schedule = receive_in_time(std::move(schedule));
    return schedule;
}

}  // namespace debubble
