#pragma once

#include "sim/engine/cost_model.h"
#include "sim/uneven/draw.h"
#include "sim/uneven/load_curves.h"

namespace debubble::sim {

/// The costs of one drawn step: those of the even load, changed by the loads that the microbatch's
/// layers and sequences drew, times the rank's slow-down and the jitter. Communication that nothing
/// hides takes as long on a slow rank; messages, gathers and reductions stay as they are.
class UnevenCostModel final : public CostModel {
public:
    /// `curves` must outlive the model. `spared`, if any, is a rank that is not slowed down.
    UnevenCostModel(const LoadCurves& curves, int draw, std::optional<Rank> spared = {})
        : curves_(curves), even_(curves.even()), draw_(curves.scenario(), draw), spared_(spared) {}

    bool per_micro_batch() const override { return true; }
    ComputeCost compute(const Compute& action, Rank rank) const override {
        return drawn(even_.compute(action, rank), action, rank);
    }
    ComputeCost recompute(const Recompute& action, Rank rank) const override {
        return drawn(even_.recompute(action, rank), action, rank);
    }
    ComputeCost overlap(const Overlap& action, Rank rank) const override {
        return drawn(even_.overlap(action, rank), action, rank);
    }
    Duration optimizer_step(Rank rank) const override;

    Flow transfer(const Message& message, Rank from, Rank to) const override {
        return even_.transfer(message, from, to);
    }
    Flow unshard(Stage stage, Rank rank) const override { return even_.unshard(stage, rank); }
    Flow reduce_grad(Stage stage, std::span<const Rank> holders) const override {
        return even_.reduce_grad(stage, holders);
    }
    HiddenPart unshard_hidden(Stage stage, Rank rank) const override {
        return even_.unshard_hidden(stage, rank);
    }
    HiddenPart reduce_grad_hidden(Stage stage, std::span<const Rank> holders) const override {
        return even_.reduce_grad_hidden(stage, holders);
    }
    Flow tied_grad(Stage stage, std::span<const Rank> holders) const override {
        return even_.tied_grad(stage, holders);
    }
    Flow grad_norm() const override { return even_.grad_norm(); }
    Flow offload(Stage stage, Rank rank) const override { return even_.offload(stage, rank); }
    std::span<const BytesPerSecond> links() const override { return even_.links(); }
    std::vector<std::string> unmeasured() const override { return even_.unmeasured(); }

private:
    ComputeCost drawn(ComputeCost cost, const Work& work, Rank rank) const;
    double slow_down(Rank rank) const;

    const LoadCurves& curves_;
    const CostModel& even_;
    Draw draw_;
    std::optional<Rank> spared_;
};

}  // namespace debubble::sim
