#include "sim/cost/physical_models.h"

#include <algorithm>
#include <utility>

#include "sim/memory/pass_memory.h"
#include "sim/memory/static_level.h"

namespace debubble::sim {
namespace {

class PhysicalMemoryModel final : public MemoryModel {
public:
    explicit PhysicalMemoryModel(std::shared_ptr<const SchedulePrices> prices)
        : prices_(std::move(prices)) {}

    MemoryByClass static_memory(Rank rank) const override { return level(rank).held; }
    Bytes gradients_in_backward(Rank rank) const override {
        return level(rank).gradients_in_backward;
    }
    Bytes optimizer_transient(Rank rank) const override { return level(rank).optimizer_step; }

    /// The forward of a stage that is recomputed keeps its input, and the tensors that later slices
    /// read.
    PassMemory compute(const Compute& action) const override {
        const StagePrice& stage = prices_->of(action);
        PassMemory memory = stage.memory(action.pass);
        if (action.pass == Pass::Forward && prices_->runs_again(action.stage))
            memory.held_after = stage.left_to_run_again();
        return memory;
    }
    /// The input exists already; every other saved tensor of the forward is recomputed.
    PassMemory recompute(const Recompute& action) const override {
        const StagePrice& stage = prices_->of(action.stage, action.micro_batch);
        PassMemory memory = stage.memory_again();
        const Bytes there{-stage.input().count};
        memory.held_after += there;
        memory.peak_above += there;
        memory.at_peak[MemoryClass::Activations] += there;
        return memory;
    }
    PassMemory overlap(const Overlap& action) const override {
        const scenarios::Scenario& scenario = prices_->scenario();
        if (scenario.schedule.pairs_layers && action.first.pass == Pass::Forward)
            return pair_memory(prices_->of(action.first).pieces(action.first.pass),
                               prices_->of(action.second).pieces(action.second.pass));
        return at_once(compute(action.first), compute(action.second));
    }
    Bytes message(const Message& message) const override { return prices_->bytes_of(message); }
    bool keeps_messages() const override { return prices_->scenario().framework.keeps_messages; }
    MemoryByClass left_unreduced(const Compute& action) const override {
        return prices_->of(action.stage).left(action.pass);
    }
    Bytes unsharded_bytes(Stage stage) const override {
        const scenarios::Scenario& scenario = prices_->scenario();
        if (scenario.parallel.zero_stage < 3) return {};
        return Bytes{prices_->elements(stage).total() *
                     models::size_of(scenario.training.precision.compute)};
    }

private:
    models::StaticMemory level(Rank rank) const {
        const std::span<const Stage> stages = prices_->placement().stages_of(rank);
        const auto has_head = [&](Stage s) { return prices_->of(s).graph().content.head; };
        const auto head = std::ranges::find_if(stages, has_head);
        const Stage like = head == stages.end() ? stages.front() : *head;
        models::StaticPolicy policy = static_policy(prices_->scenario());
        policy.whole_parameters = prices_->whole_elements_of(rank).total();
        return models::static_memory(prices_->of(like).graph(), policy, prices_->elements_of(rank));
    }

    std::shared_ptr<const SchedulePrices> prices_;
};

}  // namespace

std::unique_ptr<MemoryModel> make_memory_model(std::shared_ptr<const SchedulePrices> prices) {
    return std::make_unique<PhysicalMemoryModel>(std::move(prices));
}

}  // namespace debubble::sim
