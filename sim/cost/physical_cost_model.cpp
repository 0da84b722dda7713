#include "sim/cost/physical_models.h"

#include <algorithm>
#include <array>
#include <optional>
#include <set>
#include <utility>

#include "scenarios/cluster/measured.h"
#include "scenarios/plan/plan.h"
#include "sim/cost/kernels/kernel_cost.h"
#include "sim/cost/passes/contention.h"
#include "sim/cost/passes/data_parallel.h"
#include "sim/cost/passes/muon_time.h"
#include "sim/cost/passes/pair_time.h"
#include "sim/network/topology.h"

namespace debubble::sim {
namespace {

PairLanes pair_lanes(const scenarios::Scenario& scenario) {
    const scenarios::Framework& framework = scenario.framework;
    PairLanes lanes;
    lanes.contention = contention_of_exchanges(scenario);
    lanes.waits = waits_for_ranks(scenario.parallel.expert);
    lanes.waits.of_exchange *= lanes.contention.stretch;
    lanes.host = framework.host_pair;
    lanes.awaits_counts = !framework.capacity_factor && !framework.cuda_graphs.full_iteration;
    return lanes;
}

class PhysicalCostModel final : public CostModel {
public:
    explicit PhysicalCostModel(std::shared_ptr<const SchedulePrices> prices)
        : prices_(std::move(prices)),
          scenario_(prices_->scenario()),
          topology_(scenario_),
          between_replicas_(scenario_, topology_),
          several_holders_(has_several_holders(prices_->placement())),
          tensor_gather_(tensor_gather()) {
        find_shared_links();
    }

    ComputeCost compute(const Compute& action, Rank rank) const override {
        const StagePrice& stage = prices_->of(action);
        ComputeCost cost = stage.of(action.pass);
        sends(cost, stage.busy(action.pass), rank);
        const Duration reduced = reduced_in(action, rank);
        cost.duration += reduced;
        cost.exposed += reduced;
        return cost;
    }
    ComputeCost recompute(const Recompute& action, Rank rank) const override {
        const StagePrice& stage = prices_->of(action.stage, action.micro_batch);
        ComputeCost cost = stage.again();
        sends(cost, stage.busy_again(), rank);
        return cost;
    }
    ComputeCost overlap(const Overlap& action, Rank rank) const override;
    TimeByKind communication(const Compute& action) const override {
        return prices_->of(action).by_kind(action.pass);
    }
    TimeByKind communication(const Recompute& action) const override {
        return prices_->of(action.stage, action.micro_batch).by_kind_again();
    }
    std::array<bool, kCommunicationKinds> hidden_in_pairs() const override;
    std::vector<PairPart> pair_parts(const Overlap& action, Rank rank) const override;
    Flow transfer(const Message& message, Rank from, Rank to) const override;

    Flow unshard(Stage stage, Rank rank) const override { return gathering(stage, rank).exposed; }
    HiddenPart unshard_hidden(Stage stage, Rank rank) const override {
        return gathering(stage, rank).hidden;
    }
    Flow reduce_grad(Stage stage, std::span<const Rank> holders) const override {
        return reducing(stage, holders).exposed;
    }
    HiddenPart reduce_grad_hidden(Stage stage, std::span<const Rank> holders) const override {
        return reducing(stage, holders).hidden;
    }
    Flow tied_grad(Stage stage, std::span<const Rank> holders) const override {
        return between_replicas_.reduce_between_holders(prices_->of(stage).parameters().units.tied,
                                                        holders);
    }
    Flow grad_norm() const override {
        Flow flow = between_replicas_.reduce_norm();
        if (const auto& measured = scenario_.cluster.measured)
            flow.latency += from_seconds(static_cast<double>(most_stepped_elements()) *
                                         measured->norm_seconds_per_element);
        return flow;
    }
    Flow offload(Stage stage, Rank rank) const override {
        const StagePrice& price = prices_->of(stage);
        const Bytes kept = prices_->runs_again(stage) ? price.left_to_run_again()
                                                      : price.memory(Pass::Forward).held_after;
        return topology_.host_copy(rank, kept - price.memory(Pass::Forward).stays);
    }
    Duration optimizer_step(Rank rank) const override {
        return optimizer_time(scenario_, stepped_elements(rank)) +
               muon_time(scenario_, prices_->matrices_of(rank), prices_->pricer()) +
               weight_cast_time(scenario_, cast_elements(rank)) +
               between_replicas_.gather_whole(prices_->whole_elements_of(rank), rank);
    }

    Duration between_steps(Rank rank) const override {
        if (!scenarios::measures_operators(scenario_.cluster.measured)) return {};
        const scenarios::Measured& measured = *scenario_.cluster.measured;
        return measured.step_overhead + from_seconds(static_cast<double>(gradients_held(rank)) *
                                                     measured.zero_seconds_per_element);
    }

    std::span<const BytesPerSecond> links() const override { return topology_.links(); }
    std::vector<std::string> unmeasured() const override {
        std::set<std::string> all;
        prices_->for_each([&](const StagePrice& price) {
            all.insert(price.unmeasured().begin(), price.unmeasured().end());
        });
        return {all.begin(), all.end()};
    }

private:
    /// On a processor, nothing overlaps its own work.
    void find_shared_links() {
        if (scenario_.cluster.gpu.threads) return;
        TierSeconds all{};
        prices_->for_each([&](const StagePrice& price) { add(all, price.busy_all()); });
        if (std::ranges::any_of(all, [](double busy) { return busy > 0; }))
            link_use_.emplace(scenario_, PlacementIndex(prices_->placement()), topology_, all);
    }
    /// The flows of a pass over links with contention, or that take longer than the pass itself.
    void sends(ComputeCost& cost, const TierSeconds& busy, Rank rank) const {
        if (!link_use_) return;
        std::size_t used = 0;
        for (const Tier tier : {Tier::Node, Tier::Network, Tier::Spine}) {
            const double length = busy[tier];
            if (length > 0 && (link_use_->shared(tier, rank) || length > seconds(cost.duration)))
                cost.flows[used++] = topology_.inner_flow(tier, length, rank);
        }
    }

    PartlyHidden gathering(Stage stage, Rank rank) const {
        return between_replicas_.gather_parameters(prices_->elements(stage), rank,
                                                   prices_->of(stage).of(Pass::Forward).duration);
    }
    PartlyHidden reducing(Stage stage, std::span<const Rank> holders) const {
        // Gradients are also reduced in the passes, over the replicas of one holder; the reduction
        // between holders remains.
        if (scenario_.parallel.gathers_in_passes())
            return {between_replicas_.reduce_between_holders(
                        prices_->elements(stage).total() / scenario_.parallel.shards(), holders),
                    {}};
        return between_replicas_.reduce_gradients(prices_->elements(stage), holders,
                                                  last_backward(stage, holders));
    }
    LastBackward last_backward(Stage stage, std::span<const Rank> holders) const {
        const StagePrice& price = prices_->of(stage);
        const ShardedUnits& units = price.parameters().units;
        LastBackward last{
            std::max(price.of(Pass::Backward).duration, price.of(Pass::BackwardWeight).duration)};
        if (holders.size() == 1)  // the passes of several holders are not in step
            last.comes_last = part_that_comes_last(units);
        last.reductions = count_of(units);
        return last;
    }
    /// The time for which a pass stops for reductions of its gradients, one of which the Program
    /// lists after it.
    Duration reduced_in(const Compute& pass, Rank rank) const {
        const scenarios::Parallel& parallel = scenario_.parallel;
        if (!parallel.shares_gradients() || parallel.gathers_in_passes() || several_holders_ ||
            (pass.pass != Pass::Backward && pass.pass != Pass::BackwardWeight))
            return {};
        const std::array holders{rank};
        return between_replicas_.reduced_in_backward(prices_->elements(pass.stage), holders,
                                                     last_backward(pass.stage, holders));
    }

    /// The number of elements that the rank's optimizer steps.
    std::int64_t stepped_elements(Rank rank) const {
        const models::ParameterCount held = prices_->elements_of(rank);
        return scenario_.parallel.zero_stage > 0 || scenarios::has_bf16_optimizer(scenario_)
                   ? share_of(held, scenario_.parallel)
                   : held.total();
    }
    /// The number of gradients that the rank holds through a step.
    std::int64_t gradients_held(Rank rank) const {
        const models::ParameterCount held = prices_->elements_of(rank);
        return scenario_.parallel.shares_gradients() ? share_of(held, scenario_.parallel)
                                                     : held.total();
    }
    /// The number of weights that the rank casts once per step. Shards of ZeRO-3 are cast as
    /// shards.
    std::int64_t cast_elements(Rank rank) const {
        const models::ParameterCount held = prices_->elements_of(rank);
        const std::int64_t trained = held.narrow_dense + held.narrow_expert;
        return scenario_.parallel.zero_stage < 3 ? trained : trained / scenario_.parallel.shards();
    }
    std::int64_t most_stepped_elements() const {
        std::int64_t most = 0;
        for (int rank = 0; rank < scenario_.parallel.pipeline; ++rank)
            most = std::max(most, stepped_elements(Rank{rank}));
        return most;
    }

    /// Whether the layers of a pair's passes overlap in its price.
    bool pairs_in_layers() const;
    bool scatters_messages() const {
        return scenario_.framework.point_to_point == scenarios::PointToPoint::ScatterGather &&
               scenario_.parallel.tensor > 1 && !scenario_.parallel.sequence;
    }
    /// The receiver's time to reassemble a scattered message.
    Duration tensor_gather() const {
        if (!scatters_messages()) return {};
        return prices_->pricer().collective({models::Collective::Kind::AllGather,
                                             models::Collective::Group::Tensor,
                                             prices_->of(Stage{}).boundary(), 0});
    }

    std::shared_ptr<const SchedulePrices> prices_;
    const scenarios::Scenario& scenario_;
    Topology topology_;
    DataParallelPrices between_replicas_;
    bool several_holders_;             ///< whether a stage has more than one
    std::optional<LinkUse> link_use_;  ///< unset where no pass sends anything
    Duration tensor_gather_{};
};

bool PhysicalCostModel::pairs_in_layers() const {
    return scenario_.schedule.pairs_layers &&
           !scenarios::measures_operators(scenario_.cluster.measured);
}

std::array<bool, kCommunicationKinds> PhysicalCostModel::hidden_in_pairs() const {
    using scenarios::Exchange;
    ArrayBy<CommunicationKind, bool, kCommunicationKinds> hidden{};
    const scenarios::Exchanges& hides = scenario_.framework.pair_hides;
    const auto set = [&](CommunicationKind kind, Exchange exchange) {
        hidden[kind] = hides[exchange];
    };
    if (!pairs_in_layers()) {
        set(CommunicationKind::Tensor, Exchange::Tensor);
        set(CommunicationKind::Context, Exchange::Context);
        set(CommunicationKind::Data, Exchange::ShardedParameters);
        set(CommunicationKind::Expert, Exchange::ExpertAllToAll);
    } else {
        hidden[CommunicationKind::Expert] = true;
    }
    return hidden;
}

std::vector<PairPart> PhysicalCostModel::pair_parts(const Overlap& action, Rank rank) const {
    if (!pairs_in_layers()) return {};
    const Duration length = overlap(action, rank).duration;
    std::vector<PairPart> parts =
        parts_of_pair(action, prices_->of(action.first).pair_parts(),
                      prices_->of(action.second).pair_parts(), pair_lanes(scenario_), length);
    for (PairPart& part : parts)
        if (part.layer) *part.layer += prices_->first_layer(part.pass.stage);
    return parts;
}

/// The passes run one after the other, unless the framework overlaps all-to-alls of each with
/// kernels of the other.
ComputeCost PhysicalCostModel::overlap(const Overlap& action, Rank rank) const {
    ComputeCost both = CostModel::overlap(action, rank);
    TierSeconds busy{};
    const StagePrice& first = prices_->of(action.first);
    const StagePrice& second = prices_->of(action.second);
    add(busy, first.busy(action.first.pass));
    add(busy, second.busy(action.second.pass));
    const scenarios::Exchanges& hides = scenario_.framework.pair_hides;
    const bool in_layers = pairs_in_layers();
    if (in_layers || std::ranges::find(hides, true) != hides.end()) {
        const PassWork& one = first.work(action.first.pass);
        const PassWork& other = second.work(action.second.pass);
        const PassWork work = in_layers ? pair_of(one, other, first.pair_parts(),
                                                  second.pair_parts(), pair_lanes(scenario_))
                                        : pair_of(one, other, hides);
        both.duration = from_seconds(length_of(work));
        both.exposed = from_seconds(work.exposed);
        both.host = both.duration - from_seconds(work.kernels + work.exposed + work.added);
    }
    sends(both, busy, rank);
    return both;
}

Flow PhysicalCostModel::transfer(const Message& message, Rank from, Rank to) const {
    const Bytes boundary = prices_->bytes_of(message);
    const std::int64_t streams = boundary.count / prices_->of(message.producer).boundary().count;
    const bool scattered = scatters_messages();
    const Bytes sent{scattered ? boundary.count / scenario_.parallel.tensor : boundary.count};
    const scenarios::Cluster& cluster = scenario_.cluster;
    const Duration start = topology_.same_node(from, to)
                               ? cluster.node_link.base_latency + cluster.node_link.latency
                               : cluster.network.p2p_latency;
    Flow flow = topology_.message(from, to, sent, start + tensor_gather_ * streams);
    flow.payload = boundary;
    return flow;
}

}  // namespace

std::unique_ptr<CostModel> make_cost_model(std::shared_ptr<const SchedulePrices> prices) {
    return std::make_unique<PhysicalCostModel>(std::move(prices));
}

std::unique_ptr<CostModel> make_cost_model(const scenarios::Scenario& scenario,
                                           const std::vector<models::StageContent>& stages,
                                           const Schedule& schedule) {
    return make_cost_model(std::make_shared<const SchedulePrices>(scenario, stages, schedule));
}

}  // namespace debubble::sim
