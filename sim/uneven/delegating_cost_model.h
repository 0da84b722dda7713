#pragma once

#include <span>
#include <string>
#include <vector>

#include "sim/engine/cost_model.h"

namespace debubble::sim {

/// A cost model with computes of its own and the communication, copies and optimizer step of
/// another one, which must outlive it. The other one's proportions of the kinds of communication
/// inside computes apply too.
class DelegatingCostModel : public CostModel {
public:
    Flow transfer(const Message& message, Rank from, Rank to) const override {
        return beside_.transfer(message, from, to);
    }
    Duration optimizer_step(Rank rank) const override { return beside_.optimizer_step(rank); }
    Duration between_steps(Rank rank) const override { return beside_.between_steps(rank); }
    Flow unshard(Stage stage, Rank rank) const override { return beside_.unshard(stage, rank); }
    Flow reduce_grad(Stage stage, std::span<const Rank> holders) const override {
        return beside_.reduce_grad(stage, holders);
    }
    HiddenPart unshard_hidden(Stage stage, Rank rank) const override {
        return beside_.unshard_hidden(stage, rank);
    }
    HiddenPart reduce_grad_hidden(Stage stage, std::span<const Rank> holders) const override {
        return beside_.reduce_grad_hidden(stage, holders);
    }
    Flow tied_grad(Stage stage, std::span<const Rank> holders) const override {
        return beside_.tied_grad(stage, holders);
    }
    Flow grad_norm() const override { return beside_.grad_norm(); }
    TimeByKind communication(const Compute& action) const override {
        return beside_.communication(action);
    }
    TimeByKind communication(const Recompute& action) const override {
        return beside_.communication(action);
    }
    std::array<bool, kCommunicationKinds> hidden_in_pairs() const override {
        return beside_.hidden_in_pairs();
    }
    Flow offload(Stage stage, Rank rank) const override { return beside_.offload(stage, rank); }
    std::span<const BytesPerSecond> links() const override { return beside_.links(); }
    std::vector<std::string> unmeasured() const override { return beside_.unmeasured(); }

protected:
    explicit DelegatingCostModel(const CostModel& beside) : beside_(beside) {}
    const CostModel& beside() const { return beside_; }

private:
    const CostModel& beside_;
};

}  // namespace debubble::sim
