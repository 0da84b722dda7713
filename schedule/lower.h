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
    bool shard_by_stage = false;    ///< ZeRO-3 by Unshard/Reshard actions (`wrap: stage`)
    std::vector<Stage> tied;        ///< the stages that hold a copy of a tied tensor
    std::vector<Stage> recomputed;  ///< the stages whose whole forward is run again
    std::vector<Stage> offloaded;   ///< the stages whose activations go to the host
    friend bool operator==(const LowerOptions&, const LowerOptions&) = default;
};

Schedule add_unshard_reshard(Schedule schedule, const LowerOptions& options);
Schedule add_reduce_grad(Schedule schedule, const LowerOptions& options);
Schedule add_tied_grad(Schedule schedule, const LowerOptions& options);
Schedule add_send_recv(Schedule schedule, const LowerOptions& options);
Schedule add_recompute(Schedule schedule, const LowerOptions& options);
Schedule add_offload(Schedule schedule, const LowerOptions& options);
Schedule add_optimizer(Schedule schedule, const LowerOptions& options);

/// All passes, in order. Read this function's body to know what lowering does.
Program lower(Schedule compute_only, const LowerOptions& options);

}  // namespace debubble
