#pragma once

#include <array>
#include <map>
#include <tuple>

#include "sim/uneven/delegating_cost_model.h"

/// The costs of a plan, some of them zero.
namespace debubble::sim {

/// The costs that are zero.
struct Relief {
    ArrayBy<CommunicationKind, bool, kCommunicationKinds> communication{};
    bool host = false;       ///< launching, and the time between steps
    bool optimizer = false;  ///< the optimizer's steps
    double kernels = 1;      ///< factor of the time of computes
};

class RelievedCosts : public DelegatingCostModel {
public:
    /// `costs` must outlive it.
    RelievedCosts(const CostModel& costs, const Relief& relief)
        : DelegatingCostModel(costs), relief_(relief) {}

    bool per_micro_batch() const override { return beside().per_micro_batch(); }
    ComputeCost compute(const Compute& action, Rank rank) const override;
    ComputeCost recompute(const Recompute& action, Rank rank) const override;
    ComputeCost overlap(const Overlap& action, Rank rank) const override;
    Flow transfer(const Message& message, Rank from, Rank to) const override;
    Flow unshard(Stage stage, Rank rank) const override;
    Flow reduce_grad(Stage stage, std::span<const Rank> holders) const override;
    HiddenPart unshard_hidden(Stage stage, Rank rank) const override;
    HiddenPart reduce_grad_hidden(Stage stage, std::span<const Rank> holders) const override;
    Flow tied_grad(Stage stage, std::span<const Rank> holders) const override;
    Flow grad_norm() const override;
    Flow offload(Stage stage, Rank rank) const override;
    Duration optimizer_step(Rank rank) const override;
    Duration between_steps(Rank rank) const override;

private:
    bool frees(CommunicationKind kind) const { return relief_.communication[kind]; }
    ComputeCost relieved(ComputeCost cost, const TimeByKind& communication) const;

    Relief relief_;
};

/// The costs with every pass of every stage as long as the mean of that pass over the stages:
/// stages are even and the total work of the ranks is the same.
class LevelledCosts : public DelegatingCostModel {
public:
    /// `costs` must outlive it. Precondition: the passes of the program are priced by them.
    LevelledCosts(const CostModel& costs, const Program& program);

    bool per_micro_batch() const override { return beside().per_micro_batch(); }
    ComputeCost compute(const Compute& action, Rank rank) const override;
    ComputeCost recompute(const Recompute& action, Rank rank) const override;
    ComputeCost overlap(const Overlap& action, Rank rank) const override;

private:
    /// Kind of pass, or the number after the last one for a recomputed forward; slice.
    using Kind = std::tuple<int, int>;
    struct Mean {
        double seconds = 0;
        int stages = 0;
    };
    double factor(Kind kind, Stage stage) const;

    std::map<std::tuple<Kind, Stage>, double> own_;  ///< seconds of each stage's pass
    std::map<Kind, Mean> means_;
};

/// The costs of passes from one model, and all others from another: a plan without recompute.
class OtherPasses : public DelegatingCostModel {
public:
    OtherPasses(const CostModel& costs, const CostModel& passes)
        : DelegatingCostModel(costs), passes_(passes) {}

    bool per_micro_batch() const override { return passes_.per_micro_batch(); }
    ComputeCost compute(const Compute& action, Rank rank) const override {
        return passes_.compute(action, rank);
    }
    ComputeCost recompute(const Recompute&, Rank) const override { return {}; }
    ComputeCost overlap(const Overlap& action, Rank rank) const override {
        return passes_.overlap(action, rank);
    }
    TimeByKind communication(const Compute& action) const override {
        return passes_.communication(action);
    }
    TimeByKind communication(const Recompute&) const override { return {}; }

private:
    const CostModel& passes_;
};

}  // namespace debubble::sim
