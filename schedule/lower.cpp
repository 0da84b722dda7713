#include "schedule/lower.h"

#include <utility>

#include "schedule/passes/messages.h"
#include "schedule/passes/passes.h"

namespace debubble {

Program lower(Schedule computes, const LowerOptions& options) {
    return with_messages(computes, options, [&](Schedule schedule) {
        schedule = add_reduce_grad(std::move(schedule), options);
        schedule = add_tied_grad(std::move(schedule), options);
        schedule = add_optimizer(std::move(schedule), options);
        schedule = add_unshard_reshard(std::move(schedule), options);
        return schedule;
    });
}

}  // namespace debubble
