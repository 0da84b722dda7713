#include "sim/cost/stage_price.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "models/graph/operator_runs.h"
#include "models/graph/replays.h"
#include "scenarios/cluster/measured.h"
#include "scenarios/plan/derived.h"
#include "scenarios/plan/plan.h"
#include "sim/cost/kernels/launches.h"
#include "sim/cost/passes/data_parallel.h"
#include "sim/memory/pass_memory.h"

namespace debubble::sim {
namespace {

/// "mlp.c_fc" of "h.3.mlp.c_fc".
std::string without_layer(const models::Operator& op) {
    if (!op.layer) return op.name;
    const std::string number = fmt::format(".{}.", *op.layer);
    const std::size_t at = op.name.find(number);
    return at == std::string::npos ? op.name : op.name.substr(at + number.size());
}

}  // namespace

StagePrice::StagePrice(const scenarios::Scenario& scenario, const PassPricer& pricer,
                       const models::StageContent& content, int slice,
                       const ScheduledPasses& passes)
    : layers_(content.layers), stage_(folded_stage(scenario, content, slice)) {
    count_parameters();
    parameters_.whole = whole_parameters(scenario, stage_.graph, stage_.fold);
    count_offloads();
    boundary_ = stage_.graph.boundary_bytes();
    sent_ = stage_.graph.output_bytes();
    sent_back_ = stage_.graph.input_bytes();
    const auto priced = [&](const models::PassSteps& steps, std::size_t which) {
        price(scenario, pricer, steps, which, passes);
    };
    // The forward is the same for a fused and for a split backward.
    const BuiltStage::Steps& steps = stage_.built->steps(passes.split);
    plan_fetches(scenario, steps[0], steps[1], passes);
    priced(steps[0], position_of(Pass::Forward));
    if (passes.again) priced(steps[0], kAgain);
    if (passes.split) {
        priced(steps[1], position_of(Pass::BackwardInput));
        priced(steps[2], position_of(Pass::BackwardWeight));
    }
    if (passes.fused && passes.split) {
        const models::PassSteps& backward = stage_.built->steps(false)[1];
        plan_fetches(scenario, steps[0], backward, passes);
        priced(backward, position_of(Pass::Backward));
    } else if (passes.fused) {
        priced(steps[1], position_of(Pass::Backward));
    }
    fetches_.reset();
    if (passes.pairs)
        pair_parts_ =
            sim::pair_parts(stage_.graph, pricer, scenario.framework, stage_.fold, passes.weights);
    if (scenarios::measures_operators(scenario.cluster.measured))
        take_measured(scenario, pricer, passes);
}

TierSeconds StagePrice::busy_all() const {
    TierSeconds all{};
    for (const TierSeconds& busy : busy_) add(all, busy);
    return all;
}

Bytes StagePrice::input() const {
    return stage_.graph.input ? stage_.graph.tensors[*stage_.graph.input].bytes : Bytes{};
}

Bytes StagePrice::seen_by_later_slices() const {
    Bytes seen;
    std::set<int> counted;
    for (const models::Operator& op : stage_.graph.operators)
        for (const int index : op.forward_uses) {
            const models::Tensor& tensor = stage_.graph.tensors[index];
            if (tensor.slices != models::Across::Seen || !counted.insert(index).second) continue;
            seen +=
                Bytes{(op.layer == stage_.fold.layer ? stage_.fold.times : 1) * tensor.bytes.count};
        }
    return seen;
}

void StagePrice::count_parameters() {
    parameters_.units = sharded_units(stage_.graph, stage_.fold);
    parameters_.all = stage_.graph.parameter_count();
    std::vector<bool> counted(stage_.graph.parameters.size());  // several operators may use one
    for (const models::Operator& op : stage_.graph.operators)
        if (op.layer == stage_.fold.layer)
            for (const int index : op.parameters) {
                if (counted[index]) continue;
                counted[index] = true;
                const models::Parameter& parameter = stage_.graph.parameters[index];
                parameters_.all.add(
                    parameter,
                    (stage_.fold.times - 1) * parameter.elements_of_rank(stage_.graph.execution));
            }
}

void StagePrice::count_offloads() {
    const auto times = [&](std::optional<int> layer) {
        return layer == stage_.fold.layer ? stage_.fold.times : 1;
    };
    for (const models::OffloadGroup& group : models::offloads_of(stage_.graph))
        for (const int tensor : group.tensors)
            offloaded_ += Bytes{times(group.layer) * stage_.graph.tensors[tensor].bytes.count};
}

double StagePrice::waits_for_host(const scenarios::Scenario& scenario, std::size_t which,
                                  double kernels) const {
    const double copies = copies_of_host(scenario, which, 0).hidden;
    return copies > 0 ? std::max(0.0, copies - kernels) : 0;
}

KindTime StagePrice::copies_of_host(const scenarios::Scenario& scenario, std::size_t which,
                                    double exposed) const {
    // A weight pass reads the tensors that the pass before it has reloaded.
    const bool copies = which != kAgain && which != position_of(Pass::BackwardWeight);
    if (!copies || offloaded_ == Bytes{}) return {};
    const auto bytes = static_cast<double>(offloaded_.count);
    return {exposed, bytes / scenario.cluster.gpu.host_link.value - exposed, bytes};
}

/// The host's time for Python, dispatch and launches of the pass: by operator, kernel, collective
/// and microbatch.
double StagePrice::host_seconds(const scenarios::Scenario& scenario, std::size_t which,
                                int collectives) const {
    const scenarios::Framework& framework = scenario.framework;
    const bool again = which == kAgain;
    Launches launches = launches_of(stage_.graph, stage_.fold, framework.cuda_graphs,
                                    again ? std::nullopt : std::optional(static_cast<Pass>(which)));
    launches.kernels += collectives;
    double between = 0;
    if (!again && !scenarios::host_waits_for_messages(scenario))
        between = seconds(host_between(scenario, static_cast<Pass>(which)));
    return sim::host_seconds(framework, launches) + between;
}

const FetchPass* StagePrice::Fetches::pass_of(std::size_t which) const {
    if (which == position_of(Pass::BackwardWeight)) return nullptr;
    const bool forward = which == kAgain || which == position_of(Pass::Forward);
    return forward ? &plan.forward : &plan.backward;
}

void StagePrice::plan_fetches(const scenarios::Scenario& scenario, const models::PassSteps& forward,
                              const models::PassSteps& backward, const ScheduledPasses& passes) {
    const auto limits = scenarios::gather_limits(scenario);
    if (!limits) return;
    const FetchLanes lanes =
        fetches_ ? fetches_->after_forward : FetchLanes(contention_of_replicas(scenario));
    fetches_ = Fetches{fetch_plan(scenario, *limits, stage_.graph, stage_.fold, forward, backward,
                                  passes.backwards_follow),
                       lanes};
}

ShardingTime StagePrice::sharding_of(const scenarios::Scenario& scenario, const PassTime& time,
                                     PassUse use, std::size_t which) {
    const FetchPass* const pass = fetches_ ? fetches_->pass_of(which) : nullptr;
    if (pass == nullptr) return sharding_time(scenario, parameters_.units, time, use);
    // Prefetches issued by the forward may still be in flight.
    const bool backward = pass == &fetches_->plan.backward;
    FetchLanes lanes =
        backward ? fetches_->after_forward : FetchLanes(contention_of_replicas(scenario));
    const ShardingTime sharding = fetch_time(scenario, fetches_->plan, *pass, time, use, lanes);
    if (which == position_of(Pass::Forward)) fetches_->after_forward = lanes;
    return sharding;
}

void StagePrice::price(const scenarios::Scenario& scenario, const PassPricer& pricer,
                       const models::PassSteps& steps, std::size_t which,
                       const ScheduledPasses& passes) {
    PassTime time = pricer.time(steps.kernels, stage_.fold);
    const double waits = waits_for_host(scenario, which, time.layers + time.ends + time.exposed);
    time.exposed += waits;
    time.by_kind[CommunicationKind::Host] = copies_of_host(scenario, which, waits);
    const double inside = time.exposed;
    int collectives = time.collectives;
    double copies = 0;
    HeldByPlace held{};
    if (scenario.parallel.shares_gradients()) {
        const ShardedUnits& units = parameters_.units;
        const PassUse use =
            which == kAgain ? PassUse{} : use_of(static_cast<Pass>(which), passes.several_holders);
        if (scenario.parallel.gathers_in_passes()) {
            const ShardingTime sharding = sharding_of(scenario, time, use, which);
            collectives += sharding.collectives;
            copies = sharding.copies;
            time.layers += sharding.copies;
            time.exposed += sharding.exposed;
            time.hidden += sharding.hidden;
            time.exchanges[scenarios::Exchange::ShardedParameters] = {sharding.exposed,
                                                                      layers_ + 1};
            time.by_kind[CommunicationKind::Data] +=
                {sharding.exposed, sharding.hidden, sharding.bytes};
            add(time.busy, sharding.busy);
        }
        held = held_by_place(scenario, units, use, fetches_ ? fetches_->pass_of(which) : nullptr);
        left_[which] = left_unreduced(scenario, units, use);
    }
    memory_[which] = play(stage_.graph, steps, stage_.fold, which == kAgain, held);
    if (passes.pairs && which != kAgain)
        pieces_[which] = pieces_of(stage_.graph, steps, stage_.fold, held);
    if (which == position_of(Pass::Forward)) memory_[which].stays = seen_by_later_slices();
    PassWork& work = work_[which];
    work.kernels = time.layers + time.ends;
    work.exposed = time.exposed;
    work.host = host_seconds(scenario, which, collectives);
    work.free = std::max(0.0, work.kernels - time.hidden);
    work.layers = layers_;
    work.exchanges = time.exchanges;
    work.waits = time.waits;
    const double length = length_of(work);
    const std::vector<AddedTerm> terms = terms_of(scenario, which);
    work.added = seconds(sum_of(terms));
    ComputeCost& cost = costs_[which];
    cost.duration = from_seconds(length) + sum_of(terms);
    cost.exposed = from_seconds(std::min(time.exposed, length));
    cost.host = from_seconds(length - time.total());
    sharding_exposed_[which] = time.exposed - inside + copies;
    busy_[which] = time.busy;
    by_kind_[which] = time.by_kind;
    keep_parts(steps.kernels, time, terms, which, scenario.parallel.gathers_in_passes());
}

std::vector<AddedTerm> StagePrice::terms_of(const scenarios::Scenario& scenario,
                                            std::size_t which) const {
    return added_terms(scenario, stage_.graph,
                       which == kAgain ? std::nullopt : std::optional(static_cast<Pass>(which)));
}

void StagePrice::keep_parts(std::span<const models::Kernel> kernels, const PassTime& time,
                            const std::vector<AddedTerm>& terms, std::size_t which, bool shards) {
    std::vector<PricePart>& parts = parts_[which];
    parts.reserve(kernels.size() + 2);
    Duration rest = costs_[which].duration;
    const auto keep = [&](PricePart part) {
        rest -= part.takes;
        parts.push_back(std::move(part));
    };
    for (std::size_t i = 0; i < kernels.size(); ++i) {
        const models::Kernel& kernel = kernels[i];
        const int times = kernel.layer == stage_.fold.layer ? stage_.fold.times : 1;
        const KernelTime& each = time.each[i];
        keep({times, from_seconds(times * each.takes),
              KernelPart{&kernel, from_seconds(each.takes + each.hidden)}});
    }
    keep({1, costs_[which].host, kLaunching});
    for (const AddedTerm& added : terms) keep({1, added.takes, added.term});
    if (shards) keep({1, rest, kSharding});
}

void StagePrice::keep_parts(const MeasuredPass& pass, const std::vector<AddedTerm>& terms,
                            std::size_t which) {
    std::vector<PricePart>& parts = parts_[which];
    parts.clear();
    for (const OperatorTime& time : pass.operators)
        parts.push_back(
            {time.times, time.takes,
             OperatorPart{without_layer(stage_.graph.operators[time.op]), time.measured}});
    for (const AddedTerm& added : terms) parts.push_back({1, added.takes, added.term});
    const Duration sharding = costs_[which].duration - pass.duration - sum_of(terms);
    if (sharding > Duration{}) parts.push_back({1, sharding, kSharding});
}

/// The measured times include the interpreter's host work.
void StagePrice::take_measured(const scenarios::Scenario& scenario, const PassPricer& pricer,
                               const ScheduledPasses& passes) {
    const auto take = [&](const std::vector<models::OperatorRun>& runs, std::size_t which) {
        MeasuredPass pass = measured_pass(*scenario.cluster.measured, stage_.graph, runs,
                                          which == kAgain, stage_.fold, pricer);
        const Duration sharding = from_seconds(sharding_exposed_[which]);
        const std::vector<AddedTerm> terms = terms_of(scenario, which);
        ComputeCost& cost = costs_[which];
        cost.duration = pass.duration + sum_of(terms) + sharding;
        cost.exposed = std::min(cost.duration, from_seconds(pass.exposed) + sharding);
        cost.host = {};
        // The measurement does not show which part is communication that a pair could hide.
        work_[which] = {};
        work_[which].added = seconds(sum_of(terms));
        work_[which].kernels = seconds(cost.duration - sum_of(terms) - cost.exposed);
        work_[which].exposed = seconds(cost.exposed);
        // The measured time contains its communication, however long that is by the rates.
        for (double& busy : busy_[which]) busy = std::min(busy, seconds(cost.duration));
        keep_parts(pass, terms, which);
        unmeasured_.merge(pass.missing);
    };
    const models::RunsByPass fused = models::operator_runs(stage_.graph, false);
    take(fused[0], position_of(Pass::Forward));
    if (passes.again) take(fused[0], kAgain);
    if (passes.fused) take(fused[1], position_of(Pass::Backward));
    if (!passes.split) return;
    const models::RunsByPass split = models::operator_runs(stage_.graph, true);
    take(split[1], position_of(Pass::BackwardInput));
    take(split[2], position_of(Pass::BackwardWeight));
}

}  // namespace debubble::sim
