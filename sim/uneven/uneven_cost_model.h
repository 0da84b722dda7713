#pragma once

#include <optional>

#include "scenarios/plan.h"
#include "sim/engine/cost_model.h"
#include "sim/uneven/draw.h"
#include "sim/uneven/load_curves.h"

namespace debubble::sim {

/// Pairs of tokens that see each other, relative to sequences that are one document each.
struct EvenDocuments {
    double attended = 1;
};

/// The costs of one drawn step: those of the even load, changed by the loads that the microbatch's
/// layers and sequences drew, times the rank's slow-down and the jitter. Communication that nothing
/// hides takes as long on a slow rank; messages, gathers and reductions stay as they are.
class UnevenCostModel final : public CostModel {
public:
    /// `curves` must outlive the model. `spared`, if any, is a rank that is not slowed down.
    UnevenCostModel(const LoadCurves& curves, int draw, std::optional<Rank> spared = {})
        : curves_(curves),
          even_(curves.even()),
          draw_(std::in_place, curves.scenario(), draw),
          spared_(spared) {}

    /// Of a step whose loads are even: every sequence has this share of its pairs of tokens.
    UnevenCostModel(const LoadCurves& curves, EvenDocuments documents)
        : curves_(curves), even_(curves.even()), attended_(documents.attended) {}

    bool per_micro_batch() const override { return draw_.has_value(); }
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
    std::optional<Draw> draw_;  ///< unset where loads are even
    double attended_ = 1;
    std::optional<Rank> spared_;
};

/// The costs of a step whose work is that of all drawn steps in the mean and whose loads are even:
/// sequences have the mean share of pairs of tokens, experts the planned load, and no rank is slow.
class EvenCosts {
public:
    /// `whole` has the costs of sequences that are one document each, as a microbatch of the plan
    /// does, and must outlive this, as the scenario must.
    EvenCosts(const scenarios::Scenario& scenario, const scenarios::Plan& plan,
              const CostModel& whole);

    const CostModel& costs() const { return documents_ ? *documents_ : whole_; }
    double attended() const { return attended_; }

private:
    const CostModel& whole_;
    double attended_ = 1;
    std::optional<scenarios::Scenario> of_documents_;  ///< with nothing else that is drawn
    std::optional<LoadCurves> curves_;
    std::optional<UnevenCostModel> documents_;
};

}  // namespace debubble::sim
