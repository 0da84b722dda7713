#pragma once

#include <vector>

#include "schedule/schedule.h"

/// From the order that a generator wrote to the program that a rank can run.
namespace debubble {

/// Where a Recv stands before the compute that needs it.
enum class ReceivePlacement {
    Late,   ///< directly before it
    Early,  ///< before the compute that stands before it, so that the link works meanwhile
};

/// How the step ends.
enum class OptimizerPlacement {
    None,           ///< compute and communication only
    Synchronized,   ///< GradNorm, then OptimizerStep
    PostValidated,  ///< OptimizerStep, then GradNorm; rolled back if the norm demands it
};

struct LowerOptions {
    ReceivePlacement receive = ReceivePlacement::Early;
    OptimizerPlacement optimizer = OptimizerPlacement::Synchronized;
    bool data_parallel = false;     ///< gradients are shared over data x context ranks, or holders
    int zero_stage = 0;             ///< 0..3; see the design of data parallelism in ARCHITECTURE.md
    bool shard_by_stage = false;    ///< ZeRO-3 by Unshard, Reshard and ReduceGrad (`wrap: stage`);
                                    ///< else all three happen inside the computes
    std::vector<Stage> tied;        ///< the stages that hold a copy of a tied tensor
    std::vector<Stage> recomputed;  ///< the stages whose whole forward is run again
    std::vector<Stage> offloaded;   ///< the stages whose activations go to the host
    friend bool operator==(const LowerOptions&, const LowerOptions&) = default;
};

// One pass each, in passes/. Those after add_send_recv expect its sends; the
// last expects the optimizer step.
Schedule add_send_recv(Schedule schedule, const LowerOptions& options);
Schedule add_recompute(Schedule schedule, const LowerOptions& options);
Schedule add_offload(Schedule schedule, const LowerOptions& options);
Schedule add_reduce_grad(Schedule schedule, const LowerOptions& options);
Schedule add_tied_grad(Schedule schedule, const LowerOptions& options);
Schedule add_optimizer(Schedule schedule, const LowerOptions& options);
Schedule add_unshard_reshard(Schedule schedule, const LowerOptions& options);
/// Lists receives earlier where a ring of ranks would jam because each has sent
/// more than the next one has asked for; then every Transport gets to the end.
Schedule receive_in_time(Schedule schedule);

/// All passes, in order. Precondition: validate(compute_only) is empty. Read this function's body
/// to know what lowering does.
Program lower(Schedule compute_only, const LowerOptions& options);

}  // namespace debubble
