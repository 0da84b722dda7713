#include "sim/cost/passes/data_parallel.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "scenarios/cluster/measured.h"
#include "scenarios/plan/derived.h"
#include "sim/cost/kernels/kernel_cost.h"
#include "sim/cost/passes/contention.h"

namespace debubble::sim {
namespace {

Bytes scaled(Bytes bytes, double by) {
    return {std::llround(static_cast<double>(bytes.count) * by)};
}

/// The group that holds a stage: its replicas, and those of its second holder if the schedule is
/// bidirectional.
GroupPlacement group_of(const scenarios::Scenario& scenario, ReplicaGroup which,
                        std::span<const Rank> holders, bool experts) {
    const int pipeline = holders.front().index;
    GroupPlacement group = experts ? expert_gradient_group(scenario, pipeline, which)
                                   : gradient_group(scenario, pipeline, which);
    if (holders.size() < 2 || which == ReplicaGroup::Copies) return group;
    const GroupPlacement pair = pair_group(scenario, holders.front().index, holders.back().index);
    const int copies = static_cast<int>(holders.size());
    group.size *= copies;
    if (pair.nodes > 1)
        group.nodes *= copies;
    else
        group.per_node *= copies;
    group.groups_per_node = std::max(group.groups_per_node, pair.groups_per_node);
    return group;
}

/// Cuts off the `exposed` part of the flow; the rest overlaps a compute. No byte is lost. Kernels
/// that overlap the rest lack the multiprocessors that it occupies and are that much longer:
/// `slows`.
PartlyHidden cut(const Flow& flow, double exposed, Duration overlap, Duration slows) {
    PartlyHidden parts{flow, {flow, overlap}};
    parts.exposed.latency = from_seconds(seconds(flow.latency) * exposed);
    parts.exposed.bytes = scaled(flow.bytes, exposed);
    parts.hidden.flow.latency -= parts.exposed.latency;
    parts.hidden.flow.bytes -= parts.exposed.bytes;
    parts.exposed.also = {};
    parts.hidden.flow.also = {};
    for (const LinkBytes& whole : flow.also) {
        const Bytes first = scaled(whole.bytes, exposed);
        parts.exposed.also.push_back({first, whole.links});
        parts.hidden.flow.also.push_back({whole.bytes - first, whole.links});
    }
    parts.exposed.latency += slows;
    return parts;
}

}  // namespace

std::int64_t gradient_bytes_sent(const scenarios::Scenario& scenario) {
    return models::size_of(scenario.gradients_on_the_wire());
}

std::int64_t parameter_bytes_sent(const scenarios::Scenario& scenario) {
    return models::size_of(
        scenario.parallel.communication_dtype.value_or(scenario.training.precision.compute));
}

double narrow_parameter_bytes_sent(const scenarios::Scenario& scenario) {
    return models::gathered_weight_bytes(scenarios::execution_of(scenario).low_precision,
                                         parameter_bytes_sent(scenario));
}

std::int64_t share_of(const models::ParameterCount& elements, const scenarios::Parallel& parallel) {
    return elements.dense / parallel.shards() + elements.expert / parallel.expert_shards();
}

bool DataParallelPrices::by_owner(CollectiveKind kind) const {
    const int stage = scenario_.parallel.zero_stage;
    return scenario_.framework.grad_reduction == scenarios::GradReduction::Owner &&
           (stage == 1 || stage == 2) &&
           (kind == CollectiveKind::ReduceScatter || kind == CollectiveKind::AllGather);
}

/// A reduction to one member has the hops and the bytes of a broadcast from it, by NCCL's rings
/// alone.
CollectiveCost DataParallelPrices::owner_by_owner(Bytes size, const GroupPlacement& group) const {
    const Bytes own{(size.count + group.size - 1) / group.size};
    CollectiveCost cost = collective_cost(CollectiveKind::Broadcast, own, group, scenario_.cluster,
                                          CollectiveAlgorithm::Ring)
                              .value_or(CollectiveCost{});
    cost.latency *= group.size;
    cost.transfer *= group.size;
    for (double& busy : cost.busy) busy *= group.size;
    return cost;
}

DataParallelPrices::Exchange DataParallelPrices::over_replicas(
    CollectiveKind kind, ReplicaGroup which, const models::ParameterCount& elements, Widths width,
    std::span<const Rank> holders) const {
    Exchange sum;
    const auto add = [&](std::int64_t count, std::int64_t narrow, bool experts) {
        const GroupPlacement group = group_of(scenario_, which, holders, experts);
        if (count == 0 || group.size == 1) return;
        const Bytes size{(count - narrow) * width.wide +
                         std::llround(static_cast<double>(narrow) * width.narrow)};
        sum.size += size;
        sum.cost =
            sum.cost + (by_owner(kind) ? owner_by_owner(size, group)
                                       : collective_cost(kind, size, group, scenario_.cluster));
    };
    add(elements.dense, elements.narrow_dense, false);
    add(elements.expert, elements.narrow_expert, true);
    return sum;
}

DataParallelPrices::Exchange DataParallelPrices::reduced(const models::ParameterCount& elements,
                                                         std::span<const Rank> holders) const {
    const scenarios::Parallel& parallel = scenario_.parallel;
    const std::int64_t bytes = gradient_bytes_sent(scenario_);
    const Widths width{bytes, static_cast<double>(bytes)};
    if (parallel.zero_stage == 0)
        return over_replicas(CollectiveKind::AllReduce, ReplicaGroup::All, elements, width,
                             holders);
    Exchange sum = over_replicas(CollectiveKind::ReduceScatter, ReplicaGroup::Shards, elements,
                                 width, holders);
    if (parallel.copies() == 1) return sum;
    const models::ParameterCount own{elements.dense / parallel.shards(),
                                     elements.expert / parallel.expert_shards()};
    const Exchange copies =
        over_replicas(CollectiveKind::AllReduce, ReplicaGroup::Copies, own, width, holders);
    if (sum.size.count == 0) sum.size = copies.size;
    sum.cost = sum.cost + copies.cost;
    return sum;
}

double DataParallelPrices::last_bucket(Bytes size) const {
    const auto bucket = static_cast<double>(scenario_.framework.grad_bucket.count);
    return 1 / std::max(1.0, std::ceil(static_cast<double>(size.count) / std::max(1.0, bucket)));
}

Duration DataParallelPrices::slowed(const CollectiveCost& cost, double exposed,
                                    Duration beside) const {
    return from_seconds(slowed_by(seconds(cost.total()) * (1 - exposed), seconds(beside),
                                  contention_of_replicas(scenario_)));
}

DataParallelPrices::Exchange DataParallelPrices::reduced_one_by_one(
    const models::ParameterCount& elements, std::span<const Rank> holders,
    const LastBackward& last_backward) const {
    Exchange all = reduced(elements, holders);
    if (scenario_.cluster.gpu.threads && scenario_.framework.reduces_by_layer)
        all.cost.latency *= last_backward.reductions;
    return all;
}

bool DataParallelPrices::reduces_in_backward(std::span<const Rank> holders) const {
    return scenario_.cluster.gpu.threads && scenario_.framework.reduces_by_layer &&
           scenario_.parallel.shares_gradients() && holders.size() == 1;
}

Duration DataParallelPrices::reduced_in_backward(const models::ParameterCount& elements,
                                                 std::span<const Rank> holders,
                                                 const LastBackward& last_backward) const {
    if (!reduces_in_backward(holders)) return {};
    const CollectiveCost all = reduced_one_by_one(elements, holders, last_backward).cost;
    return all.latency - all.latency / last_backward.reductions +
           from_seconds(seconds(all.transfer) * (1 - last_backward.comes_last));
}

PartlyHidden DataParallelPrices::reduce_gradients(const models::ParameterCount& elements,
                                                  std::span<const Rank> holders,
                                                  const LastBackward& last_backward) const {
    const auto [cost, size] = reduced_one_by_one(elements, holders, last_backward);
    const Flow flow = topology_.collective(cost, size, holders);
    const scenarios::Framework& framework = scenario_.framework;
    if (reduces_in_backward(holders)) {
        Flow of_last_unit = flow;
        of_last_unit.latency = flow.latency / last_backward.reductions;
        of_last_unit.bytes = scaled(flow.bytes, last_backward.comes_last);
        return {of_last_unit, {}};
    }
    if (!framework.overlap_grad_reduce || scenario_.cluster.gpu.threads) return {flow, {}};
    const double last = framework.reduces_by_layer ? last_backward.comes_last : last_bucket(size);
    // The other gradients are made in the rest of the backward, and are reduced as soon as the
    // first of them is ready.
    const Duration backward = from_seconds(seconds(last_backward.length) * (1 - last));
    return cut(flow, last, backward, slowed(cost, last, backward));
}

PartlyHidden DataParallelPrices::gather_parameters(const models::ParameterCount& elements,
                                                   Rank rank, Duration first_forward) const {
    const std::array participants{rank};
    const auto [cost, size] = over_replicas(
        CollectiveKind::AllGather, ReplicaGroup::Shards, elements,
        {parameter_bytes_sent(scenario_), narrow_parameter_bytes_sent(scenario_)}, participants);
    const Flow flow = topology_.collective(cost, size, participants);
    // Under ZeRO-3 by stage the schedule itself prefetches, and owners broadcast updated parameters
    // before the optimizer's step ends.
    if (!scenario_.framework.overlap_param_gather || scenario_.parallel.zero_stage == 3 ||
        scenario_.cluster.gpu.threads || by_owner(CollectiveKind::AllGather))
        return {flow, {}};
    const double bucket = last_bucket(size);
    // The parameters of the last bucket are used in the last part of the forward.
    return cut(flow, bucket, from_seconds(seconds(first_forward) * bucket),
               slowed(cost, bucket, first_forward));
}

Duration DataParallelPrices::gather_whole(const models::ParameterCount& elements, Rank rank) const {
    const std::array participants{rank};
    return over_replicas(CollectiveKind::AllGather, ReplicaGroup::Shards, elements,
                         {parameter_bytes_sent(scenario_), narrow_parameter_bytes_sent(scenario_)},
                         participants)
        .cost.total();
}

Flow DataParallelPrices::reduce_between_holders(std::int64_t elements,
                                                std::span<const Rank> holders) const {
    const Bytes size{elements * gradient_bytes_sent(scenario_)};
    if (holders.size() < 2) return {};
    const GroupPlacement pair = pair_group(scenario_, holders.front().index, holders.back().index);
    const CollectiveCost cost =
        collective_cost(CollectiveKind::AllReduce, size, pair, scenario_.cluster);
    const std::array ends{holders.front(), holders.back()};
    return topology_.collective(cost, size, ends);
}

Flow DataParallelPrices::reduce_norm() const {
    constexpr Bytes kNormAndFlag{8};
    const CollectiveCost cost = collective_cost(CollectiveKind::AllReduce, kNormAndFlag,
                                                whole_job(scenario_), scenario_.cluster);
    Flow flow;
    flow.latency = cost.total();
    flow.payload = kNormAndFlag;
    return flow;
}

}  // namespace debubble::sim
