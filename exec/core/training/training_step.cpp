#include "exec/core/training/training_step.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/check.h"
#include "exec/core/training/gradient_scale.h"
#include "exec/core/training/optimizer_pass.h"

namespace debubble::exec {

TrainingStep::TrainingStep(TrainingGroups& groups, std::vector<LocalStage> stages,
                           const TrainingOptions& options, const StatePolicy& policy,
                           bool sequence_parallel, std::chrono::nanoseconds patience,
                           Kernels& kernels, Arena& arena)
    : groups_(groups),
      stages_(std::move(stages)),
      options_(options),
      policy_(policy),
      sequence_parallel_(sequence_parallel),
      patience_(patience),
      kernels_(kernels),
      arena_(arena) {
    if (options.loss_scale) scaler_.emplace(*options.loss_scale);
}

TrainedStage& TrainingStep::state(Stage stage) const {
    const auto local = std::ranges::find(stages_, stage, &LocalStage::stage);
    DEBUBBLE_CHECK(local != stages_.end(), "a Program names the stages of its rank");
    return *local->state;
}

Pending TrainingStep::start(Work::Finish finish) {
    std::erase_if(under_way_, [](const std::shared_ptr<Work>& work) { return work->done(); });
    under_way_.push_back(std::make_shared<Work>(std::move(finish)));
    return pending(under_way_.back());
}

void TrainingStep::complete(Deadline deadline) {
    for (const std::shared_ptr<Work>& work : under_way_) work->wait(deadline);
    under_way_.clear();
}

void TrainingStep::begin_step(std::int64_t step) {
    DEBUBBLE_CHECK(!stepped_, "a GradNorm follows a post-validated OptimizerStep");
    complete(within(patience_));
    norm_.reset();
    gradients_complete_ = false;
    step_ = step;
    outcome_ = {};
    outcome_.lr = options_.lr_schedule.rate(lr_of(options_.optimizer), steps_taken_);
    outcome_.loss_scale = loss_scale();
    for (const LocalStage& local : stages_) {
        local.state->zero_gradients();
        local.state->routers().begin_step();
    }
}

Pending TrainingStep::unshard(Stage stage) {
    did(Unshard{stage});
    auto requests = std::make_shared<std::vector<Pending>>(
        state(stage).gather(to_text(Action{Unshard{stage}})));
    return start([requests](Deadline deadline) { return wait_all(*requests, deadline); });
}

void TrainingStep::reshard(Stage stage) {
    did(Reshard{stage});
    if (!policy_.gathers_in_passes) state(stage).drop_values();
}

/// Whether its reductions meet passes that the replicas make in the same order. Those of several
/// holders do not.
bool TrainingStep::is_in_step(Stage stage) const {
    return (groups_.replicas || groups_.expert_replicas) && !groups_.stages.at(stage).everyone;
}

ReductionGroups TrainingStep::reduction_groups(Stage stage) const {
    const StageGroup& group = groups_.stages.at(stage);
    if (group.everyone) return {group.everyone.get(), group.experts_everyone.get()};
    return {groups_.replicas.get(), groups_.expert_replicas.get()};
}

void TrainingStep::reduction_follows(Stage stage) {
    if (is_in_step(stage) && !policy_.gathers_in_passes) state(stage).reduce_in_next_pass();
}

Pending TrainingStep::reduce_grad(Stage stage) {
    did(ReduceGrad{stage});
    const StageGroup& group = groups_.stages.at(stage);
    const std::string label = to_text(Action{ReduceGrad{stage}});
    if (policy_.gathers_in_passes) {  // the passes have reduced over this rank's replicas
        auto requests = std::make_shared<std::vector<Pending>>();
        if (group.holders)
            for (UnitState& unit : state(stage).units())
                requests->push_back(group.holders->all_reduce(unit.held_gradients(unit.owned()),
                                                              Reduction::Sum, label));
        return start([requests](Deadline deadline) { return wait_all(*requests, deadline); });
    }
    auto reductions = std::make_shared<std::vector<UnitReduction>>();
    if (const ReductionGroups among = reduction_groups(stage))
        *reductions = state(stage).reduce(among, !group.everyone, label);
    Pending pending = start([this, reductions](Deadline deadline) {
        std::vector<Pending> requests;
        for (UnitReduction& reduction : *reductions)
            requests.push_back(std::move(reduction.request));
        const Interval interval = wait_all(requests, deadline);
        for (UnitReduction& reduction : *reductions) finish_reduction(reduction, kernels_);
        return interval;
    });
    // There is no room for whole gradients in addition to the next pass.
    if (state(stage).shares_gradients() && is_in_step(stage)) pending->wait(within(patience_));
    return pending;
}

Pending TrainingStep::tied_grad_reduce(Stage stage) {
    did(TiedGradReduce{stage});
    const std::vector<std::shared_ptr<Work>> before = under_way_;
    return start([this, before](Deadline deadline) {
        for (const std::shared_ptr<Work>& work : before) work->wait(deadline);
        return sum_tied_gradients(stages_, groups_, kernels_, arena_, deadline);
    });
}

void TrainingStep::complete_gradients(Deadline deadline) {
    complete(deadline);
    if (std::exchange(gradients_complete_, true)) return;
    sum_replicated_gradients(stages_, groups_, sequence_parallel_, kernels_, arena_, deadline);
    sum_expert_loads(stages_, groups_, sequence_parallel_, deadline);
    for (const LocalStage& local : stages_) local.state->routers().end_step(router_rate_);
}

Pending TrainingStep::grad_norm() {
    did(GradNorm{});
    norm_ = std::make_shared<Work>([this](Deadline deadline) {
        complete_gradients(deadline);
        ArenaTensor total =
            arena_.allocate({1}, DataType::Fp64, MemoryClass::Workspace, "squared norm");
        sum_of_squares(stages_, groups_, kernels_, total.view());
        const Interval interval =
            groups_.world->all_reduce(total.view(), Reduction::Sum, "GRAD_NORM")->wait(deadline);
        const Tensor squares({1}, DataType::Fp64);
        kernels_.download(total.view(), squares.view());
        judge(squares.as<double>()[0]);
        if (std::exchange(stepped_, false)) validate(deadline);
        if (scaler_) scaler_->update(outcome_.skipped);
        return interval;
    });
    return pending(norm_);
}

void TrainingStep::judge(double squares) {
    outcome_.norm = std::sqrt(squares) / outcome_.loss_scale;
    outcome_.skipped = !std::isfinite(squares);
    outcome_.diverged = outcome_.skipped && !scaler_;
    if (options_.clip_norm && !outcome_.skipped)
        outcome_.clip_factor = exec::clip_factor(outcome_.norm, *options_.clip_norm);
}

void TrainingStep::optimizer_step() {
    did(OptimizerStep{});
    const Deadline deadline = within(patience_);
    if (norm_) {
        norm_->wait(deadline);
        if (!outcome_.skipped) step(outcome_.clip_factor / outcome_.loss_scale);
        return;
    }
    complete_gradients(deadline);
    stepped_ = true;
    if (may_change_the_step()) keep_copies();
    step(1 / outcome_.loss_scale);
}

void TrainingStep::step(double gradient_factor) {
    ++steps_taken_;
    const OptimizerPass pass{options_.optimizer, outcome_.lr, steps_taken_, gradient_factor};
    step_parameters(pass, stages_, policy_, kernels_, arena_);
    if (const auto* muon = std::get_if<scenarios::MuonOptions>(&options_.optimizer))
        step_matrices({*muon, outcome_.lr, gradient_factor}, stages_, groups_, kernels_, arena_,
                      within(patience_));
}

void TrainingStep::rehearse() {
    if (std::holds_alternative<scenarios::MuonOptions>(options_.optimizer))
        rehearse_matrices(stages_, kernels_, arena_);
}

void TrainingStep::keep_copies() {
    std::size_t next = 0;
    const auto keep = [&](const TensorView& original, bool on_host) {
        if (!original) return;
        Copy copy{original, {}, {}};
        if (on_host) {
            if (next == host_copies_.size())
                host_copies_.emplace_back(arena_, original.shape, original.type);
            copy.kept = host_copies_[next++].view();
        } else {
            copy.memory = arena_.allocate(original.shape, original.type, MemoryClass::Workspace,
                                          "state before a post-validated step");
            copy.kept = copy.memory.view();
        }
        kernels_.copy(original, copy.kept);
        copies_.push_back(std::move(copy));
    };
    for (const LocalStage& local : stages_) {
        for (const UnitState& unit : local.state->units()) {
            const FlatRange range = unit.stepped();
            if (range.count == 0) continue;
            keep(unit.held_values(range), false);
            keep(unit.main(range), policy_.offload_optimizer);
            for (int m = 0; m < unit.moments(); ++m)
                keep(unit.moment(m, range), policy_.offload_optimizer);
        }
    }
}

/// The norm is known after the step: the step is kept, or undone and repeated as it should be.
void TrainingStep::validate(Deadline deadline) {
    const bool stands = outcome_.diverged || (!outcome_.skipped && outcome_.clip_factor == 1);
    if (!stands) {
        outcome_.rolled_back = true;
        for (const Copy& copy : copies_) kernels_.copy(copy.kept, copy.original);
        --steps_taken_;
        if (!outcome_.skipped) step(outcome_.clip_factor / outcome_.loss_scale);
        // ZeRO-1 and 2 have gathered the parameters that were undone.
        if (policy_.zero_stage < 3)
            for (const LocalStage& local : stages_) {
                auto requests = local.state->gather(to_text(Action{Unshard{local.stage}}));
                wait_all(requests, deadline);
            }
    }
    copies_.clear();
}

Bytes TrainingStep::moved(const Action& action) const {
    const auto sum = [&](Stage stage, auto&& elements, DataType type) {
        std::int64_t count = 0;
        for (const UnitState& unit : state(stage).units()) count += elements(unit);
        return Bytes{count * size_of(type)};
    };
    const auto share = [](const UnitState& unit) { return unit.owned().count; };
    const auto whole = [](const UnitState& unit) { return unit.whole().count; };
    if (const auto* unshard = std::get_if<Unshard>(&action))
        return sum(unshard->stage, share, policy_.compute);
    if (const auto* reduce = std::get_if<ReduceGrad>(&action)) {
        if (policy_.gathers_in_passes) return sum(reduce->stage, share, policy_.gradients);
        const bool by_holders = groups_.stages.at(reduce->stage).everyone != nullptr;
        const auto sent = [&](const UnitState& unit) {
            const bool shared = by_holders || state(reduce->stage).is_shared(unit);
            return shared ? whole(unit) : std::int64_t{0};
        };
        return sum(reduce->stage, sent, policy_.wire);
    }
    if (const auto* tied = std::get_if<TiedGradReduce>(&action)) {
        if (!groups_.tied) return {};
        return sum(
            tied->stage,
            [&](const UnitState& unit) {
                if (!unit.unit().tied) return std::int64_t{0};
                return policy_.zero_stage == 0 ? whole(unit) : share(unit);
            },
            policy_.wire);
    }
    return Bytes{std::holds_alternative<GradNorm>(action) ? size_of(DataType::Fp64) : 0};
}

bool TrainingStep::weights_are_finite() {
    const ArenaTensor total =
        arena_.allocate({1}, DataType::Fp64, MemoryClass::Workspace, "squared weights");
    kernels_.fill_zero(total.view());
    for (const LocalStage& local : stages_)
        for (const UnitState& unit : local.state->units())
            if (unit.owned().count > 0)
                kernels_.sum_of_squares(unit.held_values(unit.owned()), total.view());
    groups_.world->all_reduce(total.view(), Reduction::Sum, "WEIGHTS")->wait(within(patience_));
    const Tensor squares({1}, DataType::Fp64);
    kernels_.download(total.view(), squares.view());
    return std::isfinite(squares.as<double>()[0]);
}

LossScaleState TrainingStep::loss_scale_state() const {
    return scaler_ ? scaler_->state() : LossScaleState{};
}

void TrainingStep::restore(std::int64_t steps_taken, const LossScaleState& loss_scale) {
    steps_taken_ = steps_taken;
    if (scaler_) scaler_->restore(loss_scale);
}

}  // namespace debubble::exec
