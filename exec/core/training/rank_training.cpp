#include "exec/core/training/rank_training.h"

#include <algorithm>

#include "base/check.h"
#include "base/diagnostic.h"
#include "scenarios/plan/derived.h"

namespace debubble::exec {

namespace {

template <class Kind>
bool has(const ActionList& actions) {
    return std::ranges::any_of(
        actions, [](const Action& action) { return std::holds_alternative<Kind>(action); });
}

void check_norm(const Program& program, const TrainingOptions& options) {
    if (!options.clip_norm && !options.loss_scale) return;
    for (const ActionList& actions : program.ranks)
        if (has<OptimizerStep>(actions) && !has<GradNorm>(actions))
            throw InputError(
                "the schedule has an OPTIMIZER_STEP without a GRAD_NORM, which 'clip_norm' and "
                "loss scaling need");
}

}  // namespace

RankGrid grid_of(const scenarios::Scenario& scenario) {
    const scenarios::Parallel& parallel = scenario.parallel;
    RankGrid grid{parallel.tensor, parallel.context, parallel.data, parallel.pipeline};
    grid.order = parallel.order;
    if (!scenario.model.has_experts()) return grid;
    grid.expert = parallel.expert;
    grid.expert_tensor = parallel.expert_tensor;
    return grid;
}

TrainedStage& RankTraining::state_of(Stage stage) {
    const auto local = std::ranges::find(stages, stage, &LocalStage::stage);
    DEBUBBLE_CHECK(local != stages.end(), "the rank holds the stage");
    return *local->state;
}

std::vector<Piece> RankTraining::pieces_to_save() const {
    copies.emplace(*kernels);
    std::vector<Piece> pieces;
    for (const LocalStage& local : stages) {
        auto more = exec::pieces_to_save(*local.state, groups->stages.at(local.stage).first_holder,
                                         *copies);
        std::ranges::move(more, std::back_inserter(pieces));
    }
    return pieces;
}

std::vector<WantedPiece> RankTraining::pieces_to_load(Wanted wanted) {
    copies.emplace(*kernels);
    std::vector<WantedPiece> pieces;
    for (const LocalStage& local : stages) {
        auto more = exec::pieces_to_load(*local.state, wanted, *copies);
        std::ranges::move(more, std::back_inserter(pieces));
    }
    return pieces;
}

void RankTraining::loaded() {
    copies->write_back();
    copies.reset();
}

RankTraining make_rank_training(const scenarios::Scenario& scenario, const scenarios::Plan& plan,
                                const TrainingOptions& options, Communicator& world,
                                Kernels& kernels, Arena& arena, std::chrono::nanoseconds patience) {
    const RankGrid grid = grid_of(scenario);
    DEBUBBLE_CHECK(grid.size() == world.size(), "the job has the scenario's ranks");
    check_norm(plan.program, options);
    models::Execution execution = scenarios::execution_of(scenario);
    const bool matrices = scenarios::steps_matrices(options.optimizer);
    const int moments = matrices ? 2 : moments_of(options.optimizer);
    StatePolicy policy = state_policy(scenario, moments);
    policy.steps_matrices = matrices;

    RankTraining training;
    training.kernels = &kernels;
    training.groups = std::make_unique<TrainingGroups>(
        make_groups(world, grid, plan.program, plan.lowering.tied));
    const TrainingGroups& groups = *training.groups;
    const ExpertPlace of_experts = groups.expert_place();
    execution.expert_rank = of_experts.expert;
    for (const auto& [stage, group] : groups.stages) {
        StagePlace place{groups.place.tensor, groups.shard(), groups.replicas.get(), patience};
        if (grid.experts_apart())
            place.experts = {expert_state_policy(scenario, moments), of_experts.tensor,
                             of_experts.data, groups.expert_replicas.get()};
        training.states.push_back(std::make_unique<TrainedStage>(
            models::build_stage(scenario.model, execution, plan.stages[stage.index]), policy, place,
            kernels, arena));
        training.states.back()->initialise(scenario.model, options.seed);
        training.stages.push_back({stage, training.states.back().get()});
    }
    training.step =
        std::make_unique<TrainingStep>(*training.groups, training.stages, options, policy,
                                       execution.sequence_parallel, patience, kernels, arena);
    training.step->correct_routers_by(scenario.training.routers.bias_update_rate);
    return training;
}

}  // namespace debubble::exec
