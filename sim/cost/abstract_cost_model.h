#pragma once

#include "schedule/costs.h"
#include "sim/engine/cost_model.h"

namespace debubble::sim {

/// Given costs of F, I, W and link delays: to compare orders, to check published figures, and as
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
        ComputeCost cost = CostModel::overlap(o, rank);
        if (costs_.overlap) cost.duration = *costs_.overlap / slices_;
        return cost;
    }
    Flow transfer(const Message&, Rank, Rank) const override {
        Flow flow;
        flow.latency = costs_.link;
        return flow;
    }

private:
    PipelineCosts costs_;
    int slices_;
};

}  // namespace debubble::sim
