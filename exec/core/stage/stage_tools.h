#pragma once

#include <chrono>
#include <functional>
#include <map>

#include "exec/core/arena.h"
#include "exec/core/communicator/communicator.h"
#include "exec/core/device_lanes.h"
#include "exec/core/kernels.h"
#include "exec/core/stage/stage_parameters.h"
#include "models/graph.h"
#include "models/visits.h"
#include "trace/action_log.h"

/// What a stage works with.
namespace debubble::exec {

/// Told of every operator that has run, at the latest at the end of its step: which part of it,
/// and how long that took, its allocations included.
using VisitListener = std::function<void(const models::StageGraph&, const models::Operator&,
                                         models::Part, std::chrono::nanoseconds)>;
/// Told likewise of how long passes have waited for their parameters between the operators of one
/// layer and the next: for gathers and reductions.
using ShardingListener = std::function<void(std::chrono::nanoseconds)>;

/// Keys and values of a whole sequence, [T, kv_heads, head_dim] each, as far as it was read.
struct KeptKeys {
    ArenaTensor keys;
    ArenaTensor values;
};
using KeyCache = std::map<int, KeptKeys>;  ///< by layer

/// What a stage works with. Everything must outlive it; one thread uses it.
struct StageTools {
    Kernels& kernels;
    Arena& arena;
    StageParameters& parameters;
    Communicator* tensor = nullptr;  ///< the tensor-parallel group; none if it has one rank
    std::chrono::nanoseconds patience = std::chrono::minutes(1);  ///< with a collective
    double dropout = 0;       ///< probability, where the execution has hidden or attention dropout
    bool recomputed = false;  ///< a Recompute stands before every backward: keep the input only
    VisitListener on_visit = {};  ///< nobody listens in a training; see VisitClock
    /// Where evaluations of one sample keep keys and values beyond their step, so that others go
    /// on behind them, in slices of another length too; nullptr: nowhere.
    KeyCache* keys = nullptr;
    DeviceLanes* lanes = nullptr;     ///< of the kernels' device
    Communicator* context = nullptr;  ///< the context-parallel group; none if it has one rank
    int offloaded = 1;  ///< microbatches (slices) of the stage that wait outside at once
    /// Which stage of the Program it is, and where it is told what it has run; nullptr: nowhere.
    Stage stage = {};
    ActionLog* log = nullptr;
    ShardingListener on_sharding = {};  ///< beside on_visit
};

}  // namespace debubble::exec
