#pragma once

#include <chrono>
#include <functional>
#include <map>

#include "exec/core/arena.h"
#include "exec/core/communicator/communicator.h"
#include "exec/core/device_lanes.h"
#include "exec/core/kernels.h"
#include "exec/core/stage/stage_parameters.h"
#include "models/graph/graph.h"
#include "models/graph/operator_runs.h"
#include "scenarios/plan/run_options.h"
#include "trace/action_log.h"

/// The objects, options and callbacks of a stage.
namespace debubble::exec {

/// Called for every operator that has run, at the latest at the end of its step, with the part that
/// ran and the time it took, including its allocations.
using OperatorListener = std::function<void(const models::StageGraph&, const models::Operator&,
                                            models::Part, std::chrono::nanoseconds)>;
/// Called with the time for which passes have waited, between layers, for gathers and reductions of
/// their parameters.
using ShardingListener = std::function<void(std::chrono::nanoseconds)>;

/// Keys and values of the part of a sequence that was read, [T, kv_heads, width of a head].
struct KeptKeys {
    ArenaTensor keys;
    ArenaTensor values;
};
using KeyCache = std::map<int, KeptKeys>;  ///< by layer

/// The objects that a stage works with. All of them must outlive it; one thread uses it.
struct StageTools {
    Kernels& kernels;
    Arena& arena;
    StageParameters& parameters;
    Communicator* tensor = nullptr;  ///< the tensor-parallel group; nullptr if it has one rank
    std::chrono::nanoseconds patience = std::chrono::minutes(1);  ///< for a collective
    /// Its probability, if hidden or attention dropout is on.
    double dropout = 0;
    /// A Recompute comes before every backward, so only the input is kept.
    bool recomputed = false;
    OperatorListener on_operator = {};  ///< unset in a training; see OperatorClock
    /// The cache in which evaluations of one sample keep keys and values beyond their step, so that
    /// later ones continue the sequence, in slices of another length too; nullptr: they are not
    /// kept.
    KeyCache* keys = nullptr;
    DeviceLanes* lanes = nullptr;     ///< lanes of the kernels' device
    Communicator* context = nullptr;  ///< the context-parallel group; nullptr if it has one rank
    /// The data x context ranks that hold the stage; nullptr if there is one.
    Communicator* replicas = nullptr;
    // The groups of a layer's experts; nullptr where they have one rank.
    Communicator* experts = nullptr;        ///< ranks that share them
    Communicator* expert_tensor = nullptr;  ///< ranks that cut each of them
    Communicator* expert_block = nullptr;   ///< both
    /// Most microbatches (slices) of the stage that are offloaded at the same time.
    int offloaded = 1;
    /// The stage of the Program, and the log of what it has run; nullptr: none.
    Stage stage = {};
    ActionLog* log = nullptr;
    scenarios::RouterOptions routers = {};
    /// The factor of the mean loss of multi-token prediction over its depths.
    double mtp_loss_scaling_factor = 0.1;
    ShardingListener on_sharding = {};  ///< called in addition to on_operator
};

}  // namespace debubble::exec
