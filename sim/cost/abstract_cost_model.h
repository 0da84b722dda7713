#pragma once

#include "schedule/costs.h"
#include "sim/engine/cost_model.h"

namespace debubble::sim {

/// F, I, W and link delays as given, one activation per stage and microbatch of
/// one byte each: for comparing orders, for checking published figures, and as
/// the oracle of the engine (its times are the longest path's).
class AbstractCostModel final : public CostModel {
public:
    AbstractCostModel(PipelineCosts costs, int slices)
        : costs_(std::move(costs)), slices_(slices) {}

    ComputeCost compute(const Compute& c, Rank) const override {
        ComputeCost cost;
        cost.duration = costs_.of(c.stage).of(c.pass) / slices_;
        return cost;
    }
    ComputeCost recompute(const Recompute& r, Rank) const override {
        ComputeCost cost;
        cost.duration = costs_.of(r.stage).forward / slices_;
        return cost;
    }
    ComputeCost overlap(const Overlap& o, Rank rank) const override {
        ComputeCost cost = compute(o.first, rank);
        cost.duration += compute(o.second, rank).duration;
        if (costs_.overlap) cost.duration = *costs_.overlap / slices_;
        return cost;
    }
    Flow transfer(const Message&, Rank, Rank) const override { return delay(costs_.link); }
    Flow unshard(Stage, Rank) const override { return {}; }
    Flow reduce_grad(Stage, std::span<const Rank>) const override { return {}; }
    Flow tied_grad(Stage, std::span<const Rank>) const override { return {}; }
    Flow grad_norm() const override { return {}; }
    Flow offload(Stage, Rank) const override { return {}; }
    Duration optimizer_step(Rank) const override { return {}; }
    std::span<const BytesPerSecond> links() const override { return {}; }
    MemoryByClass static_memory(Rank) const override { return {}; }
    Bytes unsharded_bytes(Stage) const override { return {}; }
    Bytes optimizer_transient(Rank) const override { return {}; }

private:
    static Flow delay(Duration length) {
        Flow flow;
        flow.latency = length;
        return flow;
    }
    PipelineCosts costs_;
    int slices_;
};

}  // namespace debubble::sim
