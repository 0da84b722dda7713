#pragma once

#include <vector>

#include "exec/core/stage/stage_tools.h"

/// How long every operator takes, for who listens.
namespace debubble::exec {

/// By the host's clock on a processor, which computes within the call. A device's operators are
/// timed by marks on its compute lane, with the host ahead as in a training: what a launch takes
/// counts only where the device waits for it.
class VisitClock {
public:
    explicit VisitClock(const StageTools& tools)
        : lanes_(tools.lanes), tell_(tools.on_visit), tell_of_sharding_(tools.on_sharding) {}

    /// The next visit begins now.
    void begin();
    void end(const models::StageGraph& graph, const models::Operator& op, models::Part part);
    /// What was done since the last visit was for the parameters, and is no operator's. Of that a
    /// host has `waited` so long.
    void end_sharding(std::chrono::nanoseconds waited);
    /// The device, if there is one, has finished the step.
    void end_step();

private:
    /// The graph outlives the step.
    struct Timed {
        const models::StageGraph* graph;
        const models::Operator* op;  ///< nullptr: for the parameters
        models::Part part;
        MarkedInterval when;
    };

    DeviceLanes* lanes_;
    VisitListener tell_;
    ShardingListener tell_of_sharding_;
    Clock::time_point begin_;
    Mark begin_mark_;
    std::vector<Timed> timed_;  ///< of this step, on a device
};

}  // namespace debubble::exec
