#include "sim/cost/physical_cost_model.h"

#include <algorithm>
#include <array>
#include <cassert>
#include <optional>

#include "scenarios/measured.h"
#include "sim/cost/data_parallel.h"
#include "sim/cost/optimizer_time.h"
#include "sim/cost/priced_stages.h"
#include "sim/memory/static_level.h"
#include "sim/network/link_use.h"
#include "sim/network/topology.h"

namespace debubble::sim {
namespace {

PassesAsked passes_asked(const Schedule& schedule) {
    PassesAsked asked;
    for (const ActionList& list : schedule.ranks)
        for (const Action& action : list) {
            asked.again = asked.again || std::holds_alternative<Recompute>(action);
            for_each_compute(action, [&](const Compute& c) {
                asked.fused = asked.fused || c.pass == Pass::Backward;
                asked.split = asked.split || c.pass == Pass::BackwardInput;
            });
        }
    asked.several_holders = has_several_holders(schedule.placement);
    return asked;
}

/// The stages that Recompute actions run again: all their microbatches, as the executor does.
std::vector<bool> recomputed_stages(const Schedule& schedule) {
    std::vector<bool> recomputed(static_cast<std::size_t>(schedule.stage_count()));
    for (const ActionList& list : schedule.ranks)
        for (const Action& action : list)
            if (const auto* again = std::get_if<Recompute>(&action))
                recomputed[static_cast<std::size_t>(again->stage.index)] = true;
    return recomputed;
}

class PhysicalCostModel : public CostModel {
public:
    PhysicalCostModel(const scenarios::Scenario& scenario,
                      const std::vector<models::StageContent>& stages, const Schedule& schedule)
        : scenario_(scenario),
          placement_(schedule.placement),
          pricer_(scenario_),
          topology_(scenario_),
          between_replicas_(scenario_, topology_) {
        assert(static_cast<int>(stages.size()) == schedule.stage_count() &&
               "one content per stage");
        const PassesAsked asked = passes_asked(schedule);
        slices_ = schedule.shape.slices;
        recomputed_ = recomputed_stages(schedule);
        const PricedStages priced(scenario_, pricer_);
        for (const models::StageContent& content : stages)
            price_of_.push_back(find(priced, content, asked));
        tensor_gather_ = tensor_gather();
        find_shared_links();
    }

    /// The forward of a stage that is run again keeps its input, and what later slices see.
    ComputeCost compute(const Compute& action, Rank rank) const override {
        const StagePrice& stage = price(action.stage, action.micro_batch);
        ComputeCost cost = stage.of(action.pass);
        sends(cost, stage.busy(action.pass), rank);
        if (action.pass == Pass::Forward && recomputed_[action.stage.index])
            cost.held_after = stage.left_to_run_again();
        return cost;
    }
    /// The input is there already; all else that the forward keeps is made anew.
    ComputeCost recompute(const Recompute& action, Rank rank) const override {
        const StagePrice& stage = price(action.stage, action.micro_batch);
        ComputeCost cost = stage.again();
        sends(cost, stage.busy_again(), rank);
        const Bytes there{-stage.input().count};
        cost.held_after += there;
        cost.peak_above += there;
        cost.at_peak[static_cast<std::size_t>(MemoryClass::Activations)] += there;
        return cost;
    }
    ComputeCost overlap(const Overlap& action, Rank rank) const override;
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
        return between_replicas_.reduce_between_holders(whole(stage).parameters().units.tied,
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
        const ComputeCost forward = compute({Pass::Forward, stage, {}}, rank);
        return topology_.host_copy(rank, forward.held_after - forward.stays);
    }
    Duration optimizer_step(Rank rank) const override {
        return optimizer_time(scenario_, stepped_elements(rank));
    }

    std::span<const BytesPerSecond> links() const override { return topology_.links(); }
    MemoryByClass static_memory(Rank rank) const override { return level(rank).held; }
    Bytes gradients_in_backward(Rank rank) const override {
        return level(rank).gradients_in_backward;
    }
    MemoryByClass left_unreduced(const Compute& action) const override {
        return whole(action.stage).left(action.pass);
    }
    Bytes unsharded_bytes(Stage stage) const override {
        if (scenario_.parallel.zero_stage < 3) return {};
        return Bytes{elements(stage).total() *
                     models::size_of(scenario_.training.precision.compute)};
    }
    Bytes optimizer_transient(Rank rank) const override { return level(rank).optimizer_step; }
    std::vector<std::string> unmeasured() const override {
        std::set<std::string> all;
        for (const PricedContent& priced : priced_)
            for (const auto& price : priced.slices)
                all.insert(price->unmeasured().begin(), price->unmeasured().end());
        return {all.begin(), all.end()};
    }

private:
    struct PricedContent {
        models::StageContent content;
        std::vector<std::shared_ptr<const StagePrice>> slices;
    };

    /// Nothing of what a processor does by itself runs beside anything.
    void find_shared_links() {
        if (scenario_.cluster.gpu.threads) return;
        TierSeconds all{};
        for (const PricedContent& priced : priced_)
            for (const auto& price : priced.slices) add(all, price->busy_all());
        if (std::ranges::any_of(all, [](double busy) { return busy > 0; }))
            link_use_.emplace(scenario_, PlacementIndex(placement_), topology_, all);
    }
    /// What a pass sends where others may be in its way, or longer than it takes itself.
    void sends(ComputeCost& cost, const TierSeconds& busy, Rank rank) const {
        if (!link_use_) return;
        std::size_t used = 0;
        for (const Tier tier : {Tier::Node, Tier::Network, Tier::Spine}) {
            const double length = busy[static_cast<std::size_t>(tier)];
            if (length > 0 && (link_use_->shared(tier, rank) || length > seconds(cost.duration)))
                cost.flows[used++] = topology_.inner_flow(tier, length, rank);
        }
    }

    PartlyHidden gathering(Stage stage, Rank rank) const {
        return between_replicas_.gather_parameters(elements(stage), rank,
                                                   whole(stage).of(Pass::Forward).duration);
    }
    PartlyHidden reducing(Stage stage, std::span<const Rank> holders) const {
        // Reduced there too, over the replicas of one holder; what is left is between holders.
        if (scenario_.parallel.gathers_in_passes())
            return {between_replicas_.reduce_between_holders(
                        elements(stage).total() / scenario_.parallel.replicas(), holders),
                    {}};
        const StagePrice& price = whole(stage);
        LastBackward last{
            std::max(price.of(Pass::Backward).duration, price.of(Pass::BackwardWeight).duration)};
        if (holders.size() == 1)  // the passes of several do not come in step
            last.comes_last = part_that_comes_last(price.parameters().units);
        return between_replicas_.reduce_gradients(elements(stage), holders, last);
    }

    std::size_t find(const PricedStages& prices, const models::StageContent& content,
                     const PassesAsked& asked) {
        const auto alike = [&](const PricedContent& priced) {
            return priced.content.layers == content.layers &&
                   priced.content.embedding == content.embedding &&
                   priced.content.head == content.head;
        };
        const auto at = std::ranges::find_if(priced_, alike);
        if (at != priced_.end()) return static_cast<std::size_t>(at - priced_.begin());
        PricedContent priced{content, {}};
        for (int slice = 0; slice < slices_; ++slice)
            priced.slices.push_back(prices.get(content, slice, asked));
        priced_.push_back(std::move(priced));
        return priced_.size() - 1;
    }

    const StagePrice& price(Stage stage, const MicroBatch& micro_batch) const {
        return *priced_[price_of_[stage.index]].slices[micro_batch.slice.value_or(0)];
    }
    const PassWork& work_of(const Compute& c) const {
        return price(c.stage, c.micro_batch).work(c.pass);
    }
    const StagePrice& whole(Stage stage) const { return price(stage, {}); }
    const models::ParameterCount& elements(Stage stage) const {
        return whole(stage).parameters().all;
    }
    models::ParameterCount elements_of(Rank rank) const {
        models::ParameterCount sum;
        for (const Stage stage : placement_.stages_of(rank)) sum += elements(stage);
        return sum;
    }

    /// By the rank's optimizer.
    std::int64_t stepped_elements(Rank rank) const {
        const models::ParameterCount held = elements_of(rank);
        return scenario_.parallel.zero_stage > 0 ? share_of(held, scenario_.parallel)
                                                 : held.total();
    }
    std::int64_t most_stepped_elements() const {
        std::int64_t most = 0;
        for (int rank = 0; rank < scenario_.parallel.pipeline; ++rank)
            most = std::max(most, stepped_elements(Rank{rank}));
        return most;
    }

    models::StaticMemory level(Rank rank) const {
        const std::span<const Stage> stages = placement_.stages_of(rank);
        const auto has_head = [&](Stage s) { return whole(s).graph().content.head; };
        const auto head = std::ranges::find_if(stages, has_head);
        const Stage like = head == stages.end() ? stages.front() : *head;
        return models::static_memory(whole(like).graph(), static_policy(scenario_),
                                     elements_of(rank));
    }

    bool scatters_messages() const {
        return scenario_.framework.point_to_point == scenarios::PointToPoint::ScatterGather &&
               scenario_.parallel.tensor > 1 && !scenario_.parallel.sequence;
    }
    /// What the receiver spends to put the pieces of a scattered message together.
    Duration tensor_gather() const {
        if (!scatters_messages()) return {};
        return pricer_.collective({models::Collective::Kind::AllGather,
                                   models::Collective::Group::Tensor, whole(Stage{}).boundary(),
                                   0});
    }

    scenarios::Scenario scenario_;
    Placement placement_;
    PassPricer pricer_;
    Topology topology_;
    DataParallelPrices between_replicas_;
    int slices_ = 1;
    std::vector<bool> recomputed_;  ///< by stage
    std::vector<PricedContent> priced_;
    std::vector<std::size_t> price_of_;  ///< by stage, index into priced_
    std::optional<LinkUse> link_use_;    ///< none where no pass sends anything
    Duration tensor_gather_{};
};

/// One after the other, unless the framework lays exchanges of each beside kernels of the other.
/// What one has gathered is gone when the other gathers.
ComputeCost PhysicalCostModel::overlap(const Overlap& action, Rank rank) const {
    const ComputeCost first = compute(action.first, rank);
    const ComputeCost second = compute(action.second, rank);
    TierSeconds busy{};
    add(busy, price(action.first.stage, action.first.micro_batch).busy(action.first.pass));
    add(busy, price(action.second.stage, action.second.micro_batch).busy(action.second.pass));
    ComputeCost both;
    both.duration = first.duration + second.duration;
    both.exposed = first.exposed + second.exposed;
    both.host = first.host + second.host;
    const scenarios::Exchanges& hides = scenario_.framework.pair_hides;
    if (std::ranges::find(hides, true) != hides.end()) {
        const PassWork work = pair_of(work_of(action.first), work_of(action.second), hides);
        both.duration = from_seconds(length_of(work));
        both.exposed = from_seconds(work.exposed);
        both.host = both.duration - from_seconds(work.kernels + work.exposed);
    }
    sends(both, busy, rank);
    both.held_after = first.held_after + second.held_after;
    both.peak_above = first.peak_above + second.peak_above;
    for (std::size_t c = 0; c < kMemoryClasses; ++c)
        both.at_peak[c] = first.at_peak[c] + second.at_peak[c];
    const MemoryByClass& held =
        price(action.first.stage, action.first.micro_batch).beside(action.first.pass);
    const MemoryByClass& later =
        price(action.second.stage, action.second.micro_batch).beside(action.second.pass);
    const MemoryByClass& less = total(held) < total(later) ? held : later;
    both.peak_above -= total(less);
    for (std::size_t c = 0; c < kMemoryClasses; ++c) both.at_peak[c] -= less[c];
    both.op_at_peak = first.peak_above > second.peak_above ? first.op_at_peak : second.op_at_peak;
    return both;
}

Flow PhysicalCostModel::transfer(const Message&, Rank from, Rank to) const {
    const Bytes boundary = whole(Stage{}).boundary();
    const bool scattered = scatters_messages();
    const Bytes sent{scattered ? boundary.count / scenario_.parallel.tensor : boundary.count};
    const scenarios::Cluster& cluster = scenario_.cluster;
    const Duration start = topology_.same_node(from, to)
                               ? cluster.node_link.base_latency + cluster.node_link.latency
                               : cluster.network.p2p_latency;
    Flow flow = topology_.message(from, to, sent, start + tensor_gather_);
    flow.payload = boundary;
    flow.held = boundary;
    return flow;
}

}  // namespace

std::unique_ptr<CostModel> make_cost_model(const scenarios::Scenario& scenario,
                                           const std::vector<models::StageContent>& stages,
                                           const Schedule& schedule) {
    return std::make_unique<PhysicalCostModel>(scenario, stages, schedule);
}

}  // namespace debubble::sim
