#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "models/graph/graph.h"
#include "scenarios/plan/derived.h"
#include "scenarios/plan/scenario.h"
#include "schedule/schedule.h"
#include "sim/memory/layer_fold.h"

/// What ZeRO-3 gathers when, keeps and drops within DeepSpeed's limits
/// (scenarios/software/stage3_limits.h), parameter by parameter, as the hooks before and after each
/// module do (DeepSpeed 00a31c9, deepspeed/runtime/zero/partitioned_param_coordinator.py).
///
/// Before an operator runs, what it lacks of its parameters is gathered and waited for. Then those
/// that later operators use are asked for, in the order of use, until they have as many elements as
/// the prefetch or the live elements allow; the last one may go beyond. After it has run its
/// parameters are dropped, but for those that stay whole, those whose next use the prefetch has
/// already passed by, and those that are used again before so many elements as the reuse distance.
/// The order of use is that of a forward and its backward; nothing is kept beyond the latter.
namespace debubble::sim {

/// A parameter that several ranks share; of the layers of a fold, each has its own.
struct FetchedParameter {
    std::int64_t elements = 0;
    std::int64_t narrow = 0;  ///< `elements` of a weight of products in 8 or 4 bits, else 0
    bool expert = false;
    bool whole = false;  ///< stays whole on every rank
};

/// The run of one operator in a pass: kernels [begin, end) of the pass's list.
struct FetchVisit {
    std::size_t begin = 0;
    std::size_t end = 0;
    int layer = -1;           ///< counts layers as the pass runs them; -1 outside of them
    std::vector<int> uses;    ///< indices into FetchPlan::parameters
    std::vector<int> needed;  ///< of these, gathered now and waited for
    std::vector<int> ahead;   ///< asked for when it begins to run
    std::int64_t held = 0;    ///< elements gathered or on their way while it runs
};

struct FetchPass {
    std::vector<FetchVisit> visits;
    std::int64_t left = 0;  ///< elements that are still gathered after the pass

    /// The most elements that are held at each kernel of the pass, over the layers that it stands
    /// for.
    std::vector<std::int64_t> held_by_kernel() const;
};

struct FetchPlan {
    std::vector<FetchedParameter> parameters;
    FetchPass forward;
    FetchPass backward;  ///< fused, or the backward-input
};

/// The parameters of the graph, those of the folded layer as often as it stands for, in the order
/// of the model: those of at most GatherLimits::parameter elements stay whole as long as all of
/// them together have at most GatherLimits::persistent.
std::vector<FetchedParameter> fetched_parameters(const scenarios::Scenario& scenario,
                                                 const scenarios::GatherLimits& limits,
                                                 const models::StageGraph& graph, LayerFold fold);

/// The elements of a stage's parameters that stay whole; none without limits.
models::ParameterCount whole_parameters(const scenarios::Scenario& scenario,
                                        const models::StageGraph& graph, LayerFold fold = {});

/// `follows`: each backward comes right after its forward, so that parameters can be kept from one
/// for the other.
FetchPlan fetch_plan(const scenarios::Scenario& scenario, const scenarios::GatherLimits& limits,
                     const models::StageGraph& graph, LayerFold fold,
                     const models::PassSteps& forward, const models::PassSteps& backward,
                     bool follows);

/// Whether every forward of the lists is followed by its own backward, before any other compute.
bool backwards_follow(const std::vector<ActionList>& ranks);

}  // namespace debubble::sim
