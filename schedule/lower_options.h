#pragma once

#include <vector>

#include "base/ids.h"
#include "schedule/schedule.h"
#include "schedule/transport.h"

namespace debubble {

/// The position of a Recv relative to the compute that needs it.
enum class ReceivePlacement {
    Late,   ///< directly before it
    Early,  ///< before the preceding compute, so that the transfer overlaps it
};

/// The actions at the end of a step.
enum class OptimizerPlacement {
    None,           ///< compute and communication only
    Synchronized,   ///< GradNorm, then OptimizerStep
    PostValidated,  ///< OptimizerStep, then GradNorm; rolled back if the norm demands it
};

struct LowerOptions {
    ReceivePlacement receive = ReceivePlacement::Early;
    Transport transport = Transport::Own;  ///< on which the program must finish
    OptimizerPlacement optimizer = OptimizerPlacement::Synchronized;
    bool data_parallel = false;   ///< gradients are reduced over data x context ranks, or holders
    int zero_stage = 0;           ///< 0 to 3 (Rajbhandari et al. 2020)
    bool shard_by_stage = false;  ///< ZeRO-3 by Unshard, Reshard and ReduceGrad (`wrap: stage`);
                                  ///< otherwise all three happen inside the computes
    std::vector<Stage> tied;      ///< the stages that hold a copy of a tied tensor
    friend bool operator==(const LowerOptions&, const LowerOptions&) = default;
};

/// The positions of messages in the lists of their two ranks.
enum class MessagePlacement {
    AtComputes,  ///< a send after its compute, a receive where LowerOptions::receive says
    InBatches,   ///< as Megatron-LM's schedules issue them
    InStep,      ///< as PyTorch's pipelining places them
};

/// A program that is being lowered.
struct Lowering {
    Schedule schedule;
    LowerOptions options;
    MessagePlacement messages = MessagePlacement::AtComputes;
    bool finishes = true;  ///< under LowerOptions::transport, as far as a pass has checked
};

}  // namespace debubble
