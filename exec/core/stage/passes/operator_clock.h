#pragma once

#include <vector>

#include "exec/core/stage/stage_tools.h"

/// The time of every operator, for a listener.
namespace debubble::exec {

/// A processor computes within the call and is timed by the host's clock. A device's operators are
/// timed by marks on its compute lane, with the host ahead as in a training: the time of a launch
/// counts only where the device waits for it.
class OperatorClock {
public:
    explicit OperatorClock(const StageTools& tools)
        : lanes_(tools.lanes), tell_(tools.on_operator), tell_of_sharding_(tools.on_sharding) {}

    /// The next operator call starts at this moment.
    void begin();
    void end(const models::StageGraph& graph, const models::Operator& op, models::Part part);
    /// The work since the last operator call was for the parameters and belongs to no operator. A
    /// host has `waited` for this part of it.
    void end_sharding(std::chrono::nanoseconds waited);
    /// The device, if there is one, has finished the step.
    void end_step();

private:
    /// An interval of one operator. The graph outlives the step.
    struct Timed {
        const models::StageGraph* graph;
        const models::Operator* op;  ///< nullptr: work for the parameters
        models::Part part;
        MarkedInterval when;
    };

    DeviceLanes* lanes_;
    OperatorListener tell_;
    ShardingListener tell_of_sharding_;
    Clock::time_point begin_;
    Mark begin_mark_;
    std::vector<Timed> timed_;  ///< intervals of this step, on a device
};

}  // namespace debubble::exec
