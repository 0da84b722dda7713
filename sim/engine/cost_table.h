#pragma once

#include <map>
#include <optional>
#include <vector>

#include "sim/engine/cost_model.h"
#include "sim/engine/task_graph.h"
#include "sim/memory/memory_model.h"

namespace debubble::sim {

/// Asks the cost model once per distinct action and gives indices into the
/// graph's costs from then on. Where microbatches differ, all actions are distinct.
class CostTable {
public:
    CostTable(const Program& program, const CostModel& model, const MemoryModel& memory,
              TaskGraph& graph);

    std::int32_t of(const Compute& compute, Rank rank);
    std::int32_t of(const Overlap& overlap, Rank rank);
    std::int32_t of(const Recompute& recompute, Rank rank);
    std::int32_t of(const Message& message, Rank from, Rank to);
    std::int32_t optimizer(Rank rank);
    std::int32_t between_steps(Rank rank);  ///< kNone if it takes no time
    std::int32_t unshard(Stage stage, Rank rank);
    std::int32_t reduce_grad(Stage stage);
    /// A part that runs at the same time as a compute, and the delay between the two.
    struct Hidden {
        std::int32_t flow = kNone;  ///< kNone if it has no flow
        Duration overlap{};
    };
    Hidden unshard_hidden(Stage stage, Rank rank);
    Hidden reduce_grad_hidden(Stage stage);
    bool leaves_unreduced(const Compute& compute) const;
    std::int32_t inner(const InnerFlow& flow);
    std::int32_t delay(Duration length);
    std::int32_t tied_grad(Stage stage, std::span<const Rank> holders);
    std::int32_t grad_norm();
    std::int32_t offload(Stage stage, Rank rank);
    std::int32_t nothing();  ///< index of a flow that takes no time
    static constexpr std::int32_t kNone = -1;

private:
    Hidden add(const HiddenPart& part);
    std::int32_t add(const ComputeCost& cost);
    std::int32_t add(const Flow& flow);
    std::int32_t& slot(std::vector<std::int32_t>& table, int kind, int kinds, Stage stage,
                       Rank rank);

    const CostModel& model_;
    const MemoryModel& memory_;
    TaskGraph& graph_;
    PlacementIndex index_;
    int slices_;
    // An entry of the placement is a rank and a stage that it holds.
    std::vector<std::int32_t> computes_;    // pass x slice x entry
    std::vector<std::int32_t> transfers_;   // kind x entry of the sender
    std::vector<std::int32_t> copies_;      // unshard, offload x entry
    std::vector<std::int32_t> reductions_;  // by stage
    std::map<std::tuple<Compute, Compute, Rank>, std::int32_t> overlaps_;  // microbatch cleared
    std::vector<std::optional<Hidden>> unshards_hidden_;                   // by entry
    std::vector<std::optional<Hidden>> reductions_hidden_;                 // by stage
    std::map<Duration, std::int32_t> delays_;
};

}  // namespace debubble::sim
