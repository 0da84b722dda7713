#include "exec/core/rank/rank_job.h"

#include <algorithm>

#include <unistd.h>

#include <fmt/format.h>

#include "base/check.h"
#include "base/diagnostic.h"
#include "exec/core/communicator/decorators.h"
#include "exec/core/stage/operators/executor_scenario.h"
#include "exec/core/stage/passes/model_stage.h"
#include "scenarios/cluster/measured.h"
#include "scenarios/plan/derived.h"
#include "schedule/derived_programs.h"

namespace debubble::exec {

namespace {

Bytes machine_memory() {
    return Bytes{std::int64_t{sysconf(_SC_PHYS_PAGES)} * sysconf(_SC_PAGE_SIZE)};
}

/// The part of the arena that is reserved at first: the planned bytes, where they are known.
std::optional<Bytes> first_of(const JobOptions& how) {
    constexpr Bytes kUnplanned{std::int64_t{64} << 20};
    if (how.capacity.count > 0) return std::nullopt;
    return how.planned.count > 0 ? how.planned : kUnplanned;
}

/// The range of a device's arena, reserved once libraries and communicators have their memory.
ArenaRange range_on(const Device& device, const JobOptions& how, bool rows_vary,
                    Communicator* world) {
    const Bytes size = how.capacity.count > 0
                           ? how.capacity
                           : arena_on_device(how.planned, rows_vary, device.room(), device.name());
    return {size, world != nullptr ? world->memory() : nullptr};
}

/// The references must outlive the arena.
Arena make_arena(const JobOptions& how, bool rows_vary,
                 const std::unique_ptr<Communicator>& world) {
    if (how.device)
        return Arena(*how.device,
                     [&, rows_vary] { return range_on(*how.device, how, rows_vary, world.get()); });
    return Arena(how.capacity.count > 0 ? how.capacity : machine_memory(), nullptr, first_of(how));
}

std::vector<int> pipeline_of(const scenarios::Scenario& scenario, const Communicator& world) {
    const RankGrid grid = grid_of(scenario);
    DEBUBBLE_CHECK(grid.size() == world.size(), "the job has the scenario's ranks");
    return grid.pipeline_group(grid.place_of(world.global_rank()));
}

template <class Test>
bool any_action(const Program& program, const Test& test) {
    return std::ranges::any_of(
        program.ranks, [&](const ActionList& list) { return std::ranges::any_of(list, test); });
}

bool splits_backward(const Program& program) {
    return any_action(program, [](const Action& action) {
        bool found = false;
        for_each_compute(action,
                         [&](const Compute& c) { found |= c.pass == Pass::BackwardWeight; });
        return found;
    });
}

bool recomputes(const Program& program, Stage stage) {
    return any_action(program, [&](const Action& action) {
        const auto* recompute = std::get_if<Recompute>(&action);
        return recompute != nullptr && recompute->stage == stage;
    });
}

/// The most microbatches (slices) of the stage that are offloaded at the same time.
int most_offloaded(const ActionList& list, Stage stage) {
    int waiting = 0, most = 0;
    for (const Action& action : list) {
        const auto* offload = std::get_if<Offload>(&action);
        const auto* reload = std::get_if<Reload>(&action);
        if (offload != nullptr && offload->stage == stage) most = std::max(most, ++waiting);
        if (reload != nullptr && reload->stage == stage) --waiting;
    }
    return most;
}

/// The most microbatches (slices) of the stage between their forward and the end of their backward.
int most_in_flight(const Program& program, Rank rank, Stage stage) {
    int inside = 0, most = 0;
    for (const Action& action : program.ranks[rank.index])
        for_each_compute(action, [&](const Compute& c) {
            if (c.stage != stage) return;
            if (c.pass == Pass::Forward) most = std::max(most, ++inside);
            if (c.pass == Pass::Backward || c.pass == Pass::BackwardWeight) --inside;
        });
    return most;
}

void check_fits(const scenarios::Scenario& scenario, const Device& device) {
    for (const models::Layer& layer : scenario.model.layers.kinds()) {
        const auto* attention = layer.as<models::Attention>();
        if (attention == nullptr || device.takes_heads(attention->head_dim, attention->value_dim))
            continue;
        throw InputError(fmt::format("heads of {} are wider than the attention on {} supports ({})",
                                     attention->head_dim, device.name(), device.widest_head()));
    }
}

/// The graphs of the stage, one for each slice of the sequence.
std::vector<models::StageGraph> graphs_of(const scenarios::Scenario& scenario,
                                          const scenarios::Plan& plan, Stage stage,
                                          int expert_rank) {
    models::Execution how = scenarios::execution_of(scenario);
    how.expert_rank = expert_rank;
    how.split_backward = splits_backward(plan.program);
    std::vector<models::StageGraph> graphs;
    for (how.slice = 0; how.slice < how.slices; ++how.slice)
        graphs.push_back(build_stage(scenario.model, how, plan.stages[stage.index]));
    return graphs;
}

}  // namespace

RankJob::RankJob(const scenarios::Scenario& scenario, const scenarios::Plan& plan,
                 const TrainingOptions& options, Communicator& world, const JobOptions& how)
    : scenario_(executor_scenario(scenario)),
      plan_(plan),
      forward_(forward_only(plan.program)),
      how_(how),
      arena_(make_arena(how_, scenario_.model.has_experts(), on_device_)),
      kernels_(how.device ? how.device->make_kernels() : how.make_kernels()),
      pinned_(how.device ? std::make_unique<PinnedPool>(how.device->lanes()) : nullptr),
      on_device_(how.device ? world.on_device(how.device->lanes()) : nullptr),
      muted_(how.device ? muted_while(rehearses_, on_device_ ? *on_device_ : world) : nullptr),
      staged_(how.device && !on_device_ ? stage_through_host(*muted_, *kernels_, *pinned_)
                                        : nullptr),
      world_(staged_  ? *staged_
             : muted_ ? *muted_
                      : world),
      pipeline_(world_.group(pipeline_of(scenario_, world_))),
      training_(
          make_rank_training(scenario_, plan, options, world_, *kernels_, arena_, how.patience)) {
    if (how.device) check_fits(scenario_, *how.device);
    if (how.device) {
        how.device->lanes().finish();  // the rehearsal must not wait for the preparations
        how.device->lanes().set_patience(how.patience);
    }
    arena_.set_patience(how.patience);
    training_.step->log_to(log_);
    const TrainingGroups& groups = *training_.groups;
    const double dropout = scenario_.training.dropout.value_or(scenario_.model.dropout);
    for (const Stage stage : plan.program.placement.stages[rank().index]) {
        StageTools tools{
            *kernels_,    arena_,  training_.state_of(stage),       groups.tensor.get(),
            how.patience, dropout, recomputes(plan.program, stage), how.on_operator};
        tools.context = groups.context.get();
        tools.replicas = groups.replicas.get();
        tools.experts = groups.experts.get();
        tools.expert_tensor = groups.expert_tensor.get();
        tools.expert_block = groups.expert_block.get();
        tools.stage = stage;
        tools.log = &log_;
        tools.offloaded = most_offloaded(plan.program.ranks[rank().index], stage);
        if (scenario_.training.offload.any()) {
            tools.offloaded =
                std::max(tools.offloaded, most_in_flight(plan.program, rank(), stage));
            if (tools.recomputed)
                throw InputError(
                    "training.offload offloads activations that the schedule recomputes by "
                    "RECOMPUTE actions; remove the key or choose another schedule");
        }
        tools.on_sharding = how.on_sharding;
        tools.routers = scenario_.training.routers;
        tools.mtp_loss_scaling_factor = scenario_.training.mtp_loss_scaling_factor;
        if (how.device) tools.lanes = &how.device->lanes();
        runners_.push_back(make_model_stage(
            graphs_of(scenario_, plan, stage, groups.expert_place().expert), tools));
        stages_.push_back(runners_.back().get());
    }
    if (!how.device) return;
    how.device->leave_to_communications(world_.multiprocessors_taken());
    // A cluster that is calibrated again carries earlier choices, which would not be timed again.
    if (const auto& measured = scenario_.cluster.measured; measured && !how.times_products)
        how.device->choose_products(measured->products);
    how.device->time_products(how.times_products);
    rehearse();
    how.device->time_products(false);
}

/// Libraries load and select the kernels of a GEMM at its first use. Some of that waits for all
/// work of the GPU, and so for ever while another rank's part of a collective is in flight:
/// therefore each rank makes its first uses by itself. They leave only gradients, which a step
/// zeroes.
void RankJob::rehearse() {
    scenarios::Scenario one = scenario_;
    one.training.micro_batches = 1;
    const RandomBatch batch(one);
    StepInputs inputs = batch.inputs(0, 1);
    inputs.micro_batches.resize(scenario_.training.micro_batches, inputs.micro_batches.front());
    rehearses_ = true;
    run(rehearsal_of(plan_.program), inputs);
    training_.step->rehearse();
    rehearses_ = false;
}

StepRecord RankJob::step(const StepInputs& inputs) {
    return run(plan_.program, inputs);
}

void RankJob::evaluate(const StepInputs& inputs) {
    DEBUBBLE_CHECK(!inputs.training, "an evaluation does not train");
    run(forward_, inputs);
}

StepRecord RankJob::run(const Program& program, const StepInputs& inputs) {
    const TrainingGroups& groups = *training_.groups;
    RankSide side{program,    rank(),  groups.grid.replica_of(groups.world->rank()),
                  *pipeline_, stages_, *training_.step,
                  arena_};
    if (how_.device) side.lanes = &how_.device->lanes();
    side.device_moves = on_device_ != nullptr;
    side.pairs_layers = scenario_.schedule.pairs_layers;
    side.log = &log_;
    const auto posting =
        world_.starts_in_order() ? ReceivePosting::InListOrder : ReceivePosting::Early;
    return run_step(side, inputs, {how_.patience, posting});
}

double RankJob::loss_total() const {
    double total = 0;
    for (const auto& runner : runners_) total += runner->loss_total();
    return total;
}

double RankJob::ahead_loss_total() const {
    double total = 0;
    for (const auto& runner : runners_) total += runner->ahead_loss_total();
    return total;
}

double RankJob::correct_total() const {
    double total = 0;
    for (const auto& runner : runners_) total += runner->correct_total();
    return total;
}

RouterTotals RankJob::router_totals() const {
    RouterTotals totals;
    for (const auto& runner : runners_) totals += runner->router_totals();
    return totals;
}

ExpertLoad RankJob::expert_load() const {
    ExpertLoad load;
    for (const auto& runner : runners_) load += runner->expert_load();
    return load;
}

std::map<Stage, std::vector<ReceivedTokens>> RankJob::received_tokens() const {
    std::map<Stage, std::vector<ReceivedTokens>> rows;
    const std::vector<Stage>& stages = plan_.program.placement.stages[rank().index];
    for (std::size_t i = 0; i < runners_.size(); ++i)
        rows[stages[i]] = runners_[i]->received_tokens();
    return rows;
}

bool RankJob::has_head() const {
    const Stage last{plan_.program.stage_count() - 1};
    return std::ranges::count(plan_.program.placement.stages[rank().index], last) > 0;
}

}  // namespace debubble::exec
