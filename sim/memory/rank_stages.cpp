#include "sim/memory/rank_stages.h"

#include <algorithm>
#include <span>

#include "models/partition/partition.h"
#include "scenarios/plan/derived.h"
#include "sim/memory/layer_fold.h"
#include "sim/memory/pass_memory.h"
#include "sim/memory/static_level.h"

namespace debubble::sim {
namespace {

std::vector<std::size_t> built_as(const scenarios::Scenario& scenario,
                                  const std::vector<models::StageContent>& contents,
                                  RankStages::Names names) {
    const models::Layers& layers = scenario.model.layers;
    const models::LowPrecision how = scenarios::execution_of(scenario).low_precision;
    std::vector<std::size_t> first;
    for (const models::StageContent& content : contents) {
        std::size_t like = first.size();
        if (names == RankStages::Names::OfOneAlike)
            like = std::ranges::find_if(
                       contents, [&](const auto& c) { return alike(layers, how, c, content); }) -
                   contents.begin();
        first.push_back(like);
    }
    return first;
}

bool has_pass(const Program& program, Pass pass) {
    bool has = false;
    for (const ActionList& list : program.ranks)
        for (const Action& action : list)
            for_each_compute(action, [&](const Compute& c) { has = has || c.pass == pass; });
    return has;
}

}  // namespace

RankStages::RankStages(const scenarios::Scenario& scenario,
                       const std::vector<models::StageContent>& contents, const Program& program,
                       Names names)
    : scenario_(scenario),
      contents_(contents),
      placement_(program.placement),
      index_(program.placement),
      slices_(program.shape.slices),
      limits_(scenarios::gather_limits(scenario)),
      has_split_backwards_(has_pass(program, Pass::BackwardInput)),
      backwards_follow_(limits_ && backwards_follow(program.ranks)),
      built_as_(built_as(scenario, contents, names)),
      model_(std::make_shared<const models::Architecture>(scenario.model)),
      execution_(scenarios::execution_of(scenario)),
      // Only limits of what is gathered ask for every expert's parameters.
      experts_(limits_ ? models::ExpertParameters::EachByName : models::ExpertParameters::Counted),
      stages_(contents.size() * slices_),
      passes_(stages_.size()),
      units_(contents.size()),
      fetches_(contents.size()),
      fetches_of_split_(contents.size()) {}

const BuiltStage& RankStages::built(Stage stage, int slice) const {
    std::shared_ptr<const BuiltStage>& built = stages_[at(stage, slice)];
    if (!built) {
        models::Execution of_slice = execution_;
        of_slice.slice = slice;
        built = built_stage(model_, of_slice, contents_[built_as_[stage.index]], experts_);
    }
    return *built;
}

RankStages::KnownPass& RankStages::known(const Compute& c) const {
    const int slice = c.micro_batch.slice.value_or(0);
    std::optional<KnownPass>& known = passes_[at(c.stage, slice)][c.pass];
    if (!known)
        known.emplace(KnownPass{built(c.stage, slice).steps(c.pass, has_split_backwards_), {}});
    return *known;
}

const PassMemory& RankStages::memory_of(const Compute& c) const {
    KnownPass& pass = known(c);
    if (!pass.memory)
        pass.memory = play(graph(c.stage, c.micro_batch.slice.value_or(0)), pass.steps, {}, false,
                           held_during(c));
    return *pass.memory;
}

HeldByPlace RankStages::held_during(const Compute& c) const {
    if (!scenario_.parallel.shares_gradients()) return {};
    return held_by_place(scenario_, units(c.stage), use_of(c), fetched(c));
}

const FetchPass* RankStages::fetched(const Compute& c) const {
    if (!limits_ || c.pass == Pass::BackwardWeight) return nullptr;
    // Where a list has both kinds of backwards, forwards are planned with those that are split.
    const bool split =
        c.pass == Pass::BackwardInput || (c.pass == Pass::Forward && has_split_backwards_);
    std::optional<FetchPlan>& plan =
        (split ? fetches_of_split_ : fetches_)[built_as_[c.stage.index]];
    if (!plan) {
        const Pass backward = split ? Pass::BackwardInput : Pass::Backward;
        plan = fetch_plan(scenario_, *limits_, graph(c.stage, 0), {},
                          steps({Pass::Forward, c.stage, c.micro_batch}),
                          steps({backward, c.stage, c.micro_batch}), backwards_follow_);
    }
    return c.pass == Pass::Forward ? &plan->forward : &plan->backward;
}

/// A graph that is there already serves as well as the producer's, of whose content the number of
/// streams is known without a graph.
Bytes RankStages::message(const Message& message) const {
    if (!boundary_) {
        const auto known =
            std::ranges::find_if(stages_, [](const auto& stage) { return stage != nullptr; });
        boundary_ = (known != stages_.end() ? (*known)->graph() : graph(message.producer, 0))
                        .boundary_bytes();
    }
    const bool back = message.kind == Message::Kind::Gradient;
    const models::StageContent& producer = contents_[message.producer.index];
    if (scenario_.model.mixes_streams())
        return *boundary_ *
               scenario_.model.stream_rows(producer.first_layer + (back ? 0 : producer.layers));
    return *boundary_ * models::streams_sent(contents_, message.producer.index, back,
                                             scenario_.model.mtp_layers);
}

MemoryByClass RankStages::left_unreduced(const Compute& c) const {
    if (!scenario_.parallel.shares_gradients()) return {};
    return sim::left_unreduced(scenario_, units(c.stage), use_of(c));
}

Bytes RankStages::unsharded_bytes(Stage stage) const {
    if (scenario_.parallel.zero_stage < 3) return {};
    return Bytes{graph(stage, 0).parameter_elements() *
                 models::size_of(scenario_.training.precision.compute)};
}

Bytes RankStages::on_collective_streams(Rank rank) const {
    if (!scenario_.framework.collective_memory || !scenario_.parallel.shares_gradients()) return {};
    // Experts that this rank alone has are neither gathered nor reduced.
    const bool shares_experts = scenario_.parallel.expert_shards() > 1;
    std::int64_t gathered = 0;
    for (const Stage stage : placement_.stages_of(rank)) {
        const ShardedUnits& of_stage = units(stage);
        const std::int64_t of_layer =
            of_stage.layer - (shares_experts ? 0 : of_stage.layer_experts);
        const std::int64_t layer = of_stage.layers > 0 ? of_layer : 0;
        const std::int64_t shards = scenario_.parallel.shards();
        const std::int64_t cast =
            scenario_.framework.casts_shards ? (of_stage.root() + shards - 1) / shards : 0;
        gathered = std::max(gathered, of_stage.root() + layer + cast);
    }
    models::StaticPolicy shares = static_policy(scenario_);
    shares.whole_gradients = false;
    shares.gradient_buffer = false;
    Bytes gradients = level(rank, shares).gradients_in_backward;
    if (!shares_experts)
        gradients -= Bytes{models::size_of(execution_.gradients) * elements_of(rank).expert};
    return Bytes{gathered * models::size_of(scenario_.training.precision.compute)} + gradients;
}

models::ParameterCount RankStages::elements_of(Rank rank) const {
    models::ParameterCount elements;
    for (const Stage stage : placement_.stages_of(rank))
        elements += graph(stage, 0).parameter_count();
    return elements;
}

const models::StaticMemory& RankStages::level(Rank rank) const {
    if (level_of_ == rank) return level_;
    level_ = level(rank, static_policy(scenario_));
    level_of_ = rank;
    return level_;
}

models::StaticMemory RankStages::level(Rank rank, const models::StaticPolicy& policy) const {
    const std::span<const Stage> held = placement_.stages_of(rank);
    Stage like = held.front();
    for (const Stage stage : held)
        if (graph(stage, 0).content.head) like = stage;
    models::StaticPolicy of_rank = policy;
    if (limits_)
        for (const Stage stage : held)
            of_rank.whole_parameters += whole_parameters(scenario_, graph(stage, 0)).total();
    return models::static_memory(graph(like, 0), of_rank, elements_of(rank));
}

const ShardedUnits& RankStages::units(Stage stage) const {
    std::optional<ShardedUnits>& units = units_[built_as_[stage.index]];
    if (!units) {
        const models::StageGraph& whole = graph(stage, 0);
        units = sharded_units(whole);
    }
    return *units;
}

}  // namespace debubble::sim
