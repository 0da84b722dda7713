#include "tests/exec/core/interpreter/fake_training.h"

#include <algorithm>
#include <mutex>
#include <stdexcept>
#include <utility>

#include "exec/comm/transports.h"
#include "exec/core/interpreter/gather_records.h"
#include "schedule/dependencies.h"

namespace debubble::exec::fake {

namespace {

using Numbers = std::int64_t;

void demand(bool kept, const std::string& promise) {
    if (!kept) throw std::runtime_error("broken promise: " + promise);
}

// The model. Forward of slice k uses what slices 0..k-1 left, backward what k+1.. left.
Numbers token_of(int replica, const MicroBatch& mb) {
    return 17 * (mb.index + 1) + 5 * mb.slice.value_or(0) + 1009 * replica;
}
Numbers forward_of(Stage stage, Numbers input, Numbers keys) {
    return (input * 31 + stage.index * 7 + keys + 1) % kPrime;
}
Numbers loss_gradient_of(Numbers output) {
    return (output * 5 + 3) % kPrime;
}
Numbers backward_of(Stage stage, Numbers gradient, Numbers keys) {
    return (gradient * 13 + stage.index + keys + 1) % kPrime;
}
Numbers weight_gradient_of(Numbers input, Numbers gradient) {
    return input * gradient % kPrime;
}

/// A request that tells when it is done.
class Then final : public Request {
public:
    Then(Pending inner, std::function<void()> then)
        : inner_(std::move(inner)), then_(std::move(then)) {}
    Interval wait(Deadline deadline) override {
        const Interval when = inner_->wait(deadline);
        if (then_) std::exchange(then_, nullptr)();
        return when;
    }

private:
    Pending inner_;
    std::function<void()> then_;
};

Pending then(Pending inner, std::function<void()> action) {
    return std::make_unique<Then>(std::move(inner), std::move(action));
}

std::vector<MicroBatch> slices_of(const Program& program, int mb) {
    if (program.shape.slices == 1) return {{mb, {}}};
    std::vector<MicroBatch> slices;
    for (int k = 0; k < program.shape.slices; ++k)
        slices.push_back({mb, static_cast<std::int16_t>(k)});
    return slices;
}

bool holds(const ActionList& list, const Action& action) {
    return std::find(list.begin(), list.end(), action) != list.end();
}

}  // namespace

Results sequential(const Program& program, int replica) {
    const int stages = program.stage_count();
    Results results{0, std::vector<Numbers>(static_cast<std::size_t>(stages), 0)};
    for (int mb = 0; mb < program.shape.micro_batches; ++mb) {
        const std::vector<MicroBatch> slices = slices_of(program, mb);
        std::map<std::pair<int, int>, Numbers> inputs;  // by stage and slice
        std::map<int, Numbers> keys, key_gradients;     // by stage
        for (int k = 0; k < static_cast<int>(slices.size()); ++k) {
            Numbers value = token_of(replica, slices[k]);
            for (int s = 0; s < stages; ++s) {
                inputs[{s, k}] = value;
                value = forward_of(Stage{s}, value, keys[s]);
                keys[s] = (keys[s] + value) % kPrime;
            }
            inputs[{stages, k}] = value;
            results.loss += value;
        }
        for (int k = static_cast<int>(slices.size()) - 1; k >= 0; --k) {
            Numbers gradient = loss_gradient_of(inputs[{stages, k}]);
            for (int s = stages - 1; s >= 0; --s) {
                results.gradients[s] += weight_gradient_of(inputs[{s, k}], gradient);
                gradient = backward_of(Stage{s}, gradient, key_gradients[s]);
                key_gradients[s] = (key_gradients[s] + gradient) % kPrime;
            }
        }
    }
    return results;
}

ArenaTensor FakeStage::edge(Message::Kind kind) {
    const char* name = kind == Message::Kind::Activation ? "activation" : "gradient";
    return arena_.allocate({1}, DataType::Fp64, MemoryClass::Activations, name);
}

void FakeStage::begin_step(const StepInputs&) {
    loss_ = 0;
    keys_.clear();
    key_gradients_.clear();
}

void FakeStage::end_step() {
    demand(saved_.empty(), "every saved activation was used up");
}

void FakeStage::ran(Pass pass, const MicroBatch& mb) {
    ++state_.computes[Compute{pass, stage_, mb}];
    state_.log.actions.emplace_back(Compute{pass, stage_, mb});
    demand(!state_.sharded.contains(stage_), "parameters are gathered when a pass runs");
    demand(pass == Pass::Forward || !state_.reducing.contains(stage_),
           "no pass adds to gradients that are under way");
    demand(arena_.held() != MemoryByClass{} || stage_.index == 0, "inputs lie in the arena");
}

ArenaTensor FakeStage::tensor(double value, std::string_view name) {
    ArenaTensor made = arena_.allocate({1}, DataType::Fp64, MemoryClass::Activations, name);
    made.view().as<double>()[0] = value;
    return made;
}

FakeStage::Saved& FakeStage::saved(const MicroBatch& mb) {
    const auto found = saved_.find(mb);
    demand(found != saved_.end(), "a backward comes after its forward");
    demand(static_cast<bool>(found->second.input), "what was offloaded came back");
    return found->second;
}

ArenaTensor FakeStage::forward(const MicroBatch& mb, ArenaTensor input) {
    ran(Pass::Forward, mb);
    demand(static_cast<bool>(input) == (stage_.index > 0), "edges are empty at the ends only");
    if (!input) input = tensor(static_cast<double>(token_of(replica_, mb)), "tokens");
    const auto value = static_cast<Numbers>(input.view().as<double>()[0]);
    Numbers& keys = keys_[mb.index];
    const Numbers output = forward_of(stage_, value, keys);
    keys = (keys + output) % kPrime;
    saved_[mb] = {std::move(input), {}, output, {}, false};
    if (is_last()) loss_ += output;
    return is_last() ? ArenaTensor{} : tensor(static_cast<double>(output), "activation");
}

Numbers FakeStage::gradient_in(const MicroBatch& mb, const ArenaTensor& from_next) {
    demand(static_cast<bool>(from_next) != is_last(), "edges are empty at the ends only");
    return is_last() ? loss_gradient_of(saved(mb).output)
                     : static_cast<Numbers>(from_next.view().as<double>()[0]);
}

ArenaTensor FakeStage::hand_back(const MicroBatch& mb, Numbers gradient) {
    const bool is_recomputed =
        std::any_of(program_.ranks.begin(), program_.ranks.end(), [&](const ActionList& list) {
            return holds(list, Recompute{stage_, mb});
        });
    demand(saved(mb).recomputed == is_recomputed, "a recompute comes before its backward");
    Numbers& keys = key_gradients_[mb.index];
    const Numbers back = backward_of(stage_, gradient, keys);
    keys = (keys + back) % kPrime;
    return stage_.index == 0 ? ArenaTensor{} : tensor(static_cast<double>(back), "gradient");
}

void FakeStage::add_weight_gradient(const MicroBatch& mb, Numbers gradient) {
    const auto input = static_cast<Numbers>(saved(mb).input.view().as<double>()[0]);
    state_.partial[stage_] += static_cast<double>(weight_gradient_of(input, gradient));
    saved_.erase(mb);
}

ArenaTensor FakeStage::backward(const MicroBatch& mb, ArenaTensor output_gradient) {
    ran(Pass::Backward, mb);
    const Numbers gradient = gradient_in(mb, output_gradient);
    ArenaTensor back = hand_back(mb, gradient);
    add_weight_gradient(mb, gradient);
    return back;
}

ArenaTensor FakeStage::backward_input(const MicroBatch& mb, ArenaTensor output_gradient) {
    ran(Pass::BackwardInput, mb);
    const Numbers gradient = gradient_in(mb, output_gradient);
    saved(mb).gradient = tensor(static_cast<double>(gradient), "kept for W");
    return hand_back(mb, gradient);
}

void FakeStage::backward_weight(const MicroBatch& mb) {
    ran(Pass::BackwardWeight, mb);
    add_weight_gradient(mb, static_cast<Numbers>(saved(mb).gradient.view().as<double>()[0]));
}

void FakeStage::recompute(const MicroBatch& mb) {
    saved(mb).recomputed = true;
    state_.log.actions.emplace_back(Recompute{stage_, mb});
}

void FakeStage::offload(const MicroBatch& mb) {
    Saved& it = saved(mb);
    const View<double> values = it.input.view().as<double>();
    it.outside.assign(values.begin(), values.end());
    it.input = {};
    state_.log.actions.emplace_back(Offload{stage_, mb});
}

void FakeStage::reload(const MicroBatch& mb) {
    Saved& it = saved_.at(mb);
    it.input = tensor(it.outside.at(0), "reloaded");
    state_.log.actions.emplace_back(Reload{stage_, mb});
}

FakeActions::FakeActions(const Program& program, const RankGrid& grid, Communicator& world,
                         RankState& state)
    : program_(program), world_(world), state_(state) {
    log_to(state.log);
    const GridPlace me = grid.place_of(world.global_rank());
    replicas_ = world.group(grid.gradient_group(me));
    for (int s = 0; s < program.stage_count(); ++s) {
        const std::vector<Rank> holders = program.placement.ranks_of(Stage{s});
        if (std::find(holders.begin(), holders.end(), Rank{me.pipeline}) == holders.end()) continue;
        std::vector<int> ranks;
        for (const Rank holder : holders) {
            GridPlace at = me;
            at.pipeline = holder.index;
            for (const int rank : grid.gradient_group(at)) ranks.push_back(rank);
        }
        holders_[Stage{s}] = world.group(ranks);
    }
    std::vector<int> tied;
    for (int p = 0; p < grid.pipeline; ++p) {
        const ActionList& list = program.ranks[p];
        const bool takes_part = std::any_of(list.begin(), list.end(), [](const Action& a) {
            return std::holds_alternative<TiedGradReduce>(a);
        });
        GridPlace at = me;
        at.pipeline = p;
        if (takes_part) tied.push_back(grid.global_rank(at));
    }
    if (std::find(tied.begin(), tied.end(), world.global_rank()) != tied.end())
        tied_ = world.group(tied);
}

void FakeActions::begin_step(std::int64_t) {
    state_.partial.clear();
    state_.reduced.clear();
    for (const Action& action : program_.ranks[0])  // every stage begins sharded, or none
        if (std::holds_alternative<Reshard>(action))
            for (const auto& [stage, holders] : holders_) state_.sharded.insert(stage);
}

Pending FakeActions::unshard(Stage stage) {
    did(Unshard{stage});
    return then(replicas_->barrier(to_text(Action{Unshard{stage}})),
                [this, stage] { state_.sharded.erase(stage); });
}

void FakeActions::reshard(Stage stage) {
    did(Reshard{stage});
    demand(state_.sharded.insert(stage).second, "what is dropped was gathered");
}

Pending FakeActions::reduce_grad(Stage stage) {
    did(ReduceGrad{stage});
    demand(state_.reducing.insert(stage).second, "one reduction of a stage at a time");
    auto sum = std::make_shared<double>(std::exchange(state_.partial[stage], 0));
    return then(holders_.at(stage)->all_reduce(buffer_of(std::span(sum.get(), 1)), Reduction::Sum,
                                               to_text(Action{ReduceGrad{stage}})),
                [this, stage, sum] {
                    state_.reduced[stage] += *sum;
                    state_.reducing.erase(stage);
                });
}

Pending FakeActions::tied_grad_reduce(Stage stage) {
    did(TiedGradReduce{stage});
    demand(state_.reducing.empty(), "tied gradients are reduced over replicas first");
    return tied_->barrier(to_text(Action{TiedGradReduce{stage}}));
}

Pending FakeActions::grad_norm() {
    did(GradNorm{});
    demand(state_.reducing.empty(), "the norm is that of reduced gradients");
    state_.norm_is_under_way = true;
    auto sum = std::make_shared<double>(1);
    return then(world_.all_reduce(buffer_of(std::span(sum.get(), 1)), Reduction::Sum, "GRAD_NORM"),
                [this, sum] {
                    state_.norm = *sum;
                    state_.norm_is_under_way = false;
                });
}

void FakeActions::optimizer_step() {
    did(OptimizerStep{});
    demand(state_.reducing.empty() && !state_.norm_is_under_way,
           "the optimizer waits for what it was given");
    ++state_.optimizer_steps;
}

std::vector<RankResult> run(const Job& job, Trace* trace) {
    const Program& program = job.program;
    std::vector<RankResult> results(static_cast<std::size_t>(job.grid.size()));
    run_local(job.grid.size(), job.transport, [&](Communicator& world) {
        const GridPlace me = job.grid.place_of(world.rank());
        const int replica = job.grid.replica_of(world.rank());
        RankResult& result = results[static_cast<std::size_t>(world.rank())];
        const auto pipeline = world.group(job.grid.pipeline_group(me));
        Arena arena({1 << 20});
        std::vector<std::unique_ptr<StageRunner>> stages;
        std::vector<StageRunner*> side_stages;
        for (const Stage stage : program.placement.stages_of(Rank{me.pipeline})) {
            stages.push_back(
                std::make_unique<FakeStage>(program, stage, replica, arena, result.state));
            if (job.wrap) stages.back() = job.wrap(stage, std::move(stages.back()));
            side_stages.push_back(stages.back().get());
        }
        FakeActions actions(program, job.grid, world, result.state);
        const StepOptions options{job.patience, job.posting};
        const ActionLog expected = log_of(program.ranks[me.pipeline], program.stage_count());
        for (int step = 0; step < job.steps; ++step) {
            StepInputs inputs;
            inputs.step = step;
            result.state.computes.clear();
            const auto instead = job.instead.find(step);
            RankSide side{instead == job.instead.end() ? program : instead->second,
                          Rank{me.pipeline},
                          replica,
                          *pipeline,
                          side_stages,
                          actions,
                          arena};
            side.log = &result.state.log;
            result.record = run_step(side, inputs, options);
            result.differences.push_back(first_difference(expected, result.state.log));
        }
        for (const auto& stage : stages) result.loss += stage->loss_total();
        result.held_after = total(arena.held());
        if (trace == nullptr) return;
        GatheredRecords gathered = gather_records(world, result.record, job.patience);
        if (world.rank() == 0) *trace = trace_of(std::move(gathered.records));
    });
    return results;
}

}  // namespace debubble::exec::fake
