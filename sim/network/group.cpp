#include "sim/network/group.h"

#include <algorithm>
#include <cassert>
#include <cstdlib>
#include <utility>

#include "scenarios/plan/derived.h"

namespace debubble::sim {
namespace {

using scenarios::Dimension;
using scenarios::DimensionSizes;
using scenarios::Parallel;
using scenarios::Scenario;

/// The bins of `width` consecutive global ranks that hold members, and the largest number of
/// members in a bin.
struct Spread {
    int bins = 0;
    int most = 0;
};
Spread spread(const RankSet& ranks, int width) {
    if (const auto count = ranks.consecutive()) {
        const int into_first = std::min(*count, width - ranks.first() % width);
        return {(ranks.first() + *count - 1) / width - ranks.first() / width + 1,
                std::max(into_first, std::min(*count - into_first, width))};
    }
    Spread result;
    int current = -1;
    int members = 0;
    ranks.for_each([&](int rank) {
        if (std::exchange(current, rank / width) != rank / width) {
            members = 0;
            ++result.bins;
        }
        result.most = std::max(result.most, ++members);
    });
    return result;
}

int divide_up(int a, int b) {
    return (a + b - 1) / b;
}

/// By Dimension: tp, cp, ep, dp, pp.
DimensionSizes layer_sizes(const Parallel& parallel) {
    return {parallel.tensor, parallel.context, 1, parallel.data, parallel.pipeline};
}
DimensionSizes expert_sizes(const Parallel& parallel) {
    return {parallel.expert_tensor, 1, parallel.expert, parallel.expert_replicas(),
            parallel.pipeline};
}

/// The ranks along one dimension.
Progression along(Dimension dimension, const Parallel& parallel, const DimensionSizes& sizes) {
    return {sizes[dimension], stride_of(dimension, parallel.order, sizes)};
}

int first_of(const Parallel& parallel, int pipeline) {
    return pipeline * along(Dimension::Pipeline, parallel, layer_sizes(parallel)).stride;
}

RankSet job_of(const Parallel& parallel) {
    return {0, {{parallel.gpus(), 1}}};
}

RankSet rivals_of(const Parallel& parallel, int pipeline, Rivals rivals) {
    return rivals == Rivals::Job ? job_of(parallel) : ranks_of_pipeline_rank(parallel, pipeline);
}

/// The replicas of `inner` x `outer`, which are cut into groups of `shards` neighbours.
/// Precondition: shards divides the inner ones, or is a multiple of them.
RankSet part_of(int first, Progression inner, Progression outer, int shards, ReplicaGroup which) {
    if (which == ReplicaGroup::All) return {first, {inner, outer}};
    if (outer.stride == inner.stride * inner.count)
        inner.count *= std::exchange(outer.count, 1);  // one progression
    const int of_inner = std::min(shards, inner.count);
    const int of_outer = shards / of_inner;
    if (which == ReplicaGroup::Shards)
        return {first, {{of_inner, inner.stride}, {of_outer, outer.stride}}};
    return {first,
            {{inner.count / of_inner, inner.stride * of_inner},
             {outer.count / of_outer, outer.stride * of_outer}}};
}

GroupPlacement along_dimension(Dimension dimension, const DimensionSizes& sizes,
                               const Scenario& scenario, int pipeline, Rivals rivals) {
    const Parallel& parallel = scenario.parallel;
    return place({first_of(parallel, pipeline), {along(dimension, parallel, sizes)}},
                 rivals_of(parallel, pipeline, rivals), scenario.cluster);
}

}  // namespace

RankSet::RankSet(int first, std::initializer_list<Progression> inner_first) : first_(first) {
    Progression last;  // of one rank
    for (const Progression& level : inner_first) {
        assert(level.count >= 1 && level.stride >= 1 && "a group has members, in order");
        if (level.count == 1) continue;
        if (last.count == 1) {
            last = level;
        } else if (level.stride == last.count * last.stride) {
            last.count *= level.count;
        } else {
            levels_.push_back(last);
            last = level;
        }
    }
    levels_.push_back(last);
}

int RankSet::size() const {
    int size = 1;
    for (const Progression& level : levels_) size *= level.count;
    return size;
}

std::optional<int> RankSet::consecutive() const {
    if (levels_.size() != 1 || (levels_.front().count > 1 && levels_.front().stride != 1))
        return std::nullopt;
    return levels_.front().count;
}

GroupPlacement place(const RankSet& group, const RankSet& rivals,
                     const scenarios::Cluster& cluster) {
    const int node = std::max(1, cluster.gpus_per_node);
    const Spread nodes = spread(group, node);
    GroupPlacement result{group.size(), nodes.bins, nodes.most, 1, 1, 1};
    result.groups_per_node = divide_up(spread(rivals, node).most, nodes.most);
    if (cluster.network.nodes_per_leaf) {
        const int leaf = node * *cluster.network.nodes_per_leaf;
        const Spread leaves = spread(group, leaf);
        result.leaves = leaves.bins;
        result.groups_per_leaf = divide_up(spread(rivals, leaf).most, leaves.most);
    } else {
        result.groups_per_leaf = result.groups_per_node * result.nodes;
    }
    return result;
}

RankSet ranks_of_pipeline_rank(const Parallel& parallel, int pipeline) {
    const DimensionSizes sizes = layer_sizes(parallel);
    InlineVector<Progression, 3> levels;
    for (const Dimension dimension : parallel.order.inner_first())
        if (dimension != Dimension::Pipeline && dimension != Dimension::Expert)
            levels.push_back(along(dimension, parallel, sizes));
    const Progression* level = levels.begin();
    return {first_of(parallel, pipeline), {level[0], level[1], level[2]}};
}

GroupPlacement tensor_group(const Scenario& scenario, int pipeline, Rivals rivals) {
    return along_dimension(Dimension::Tensor, layer_sizes(scenario.parallel), scenario, pipeline,
                           rivals);
}

GroupPlacement context_group(const Scenario& scenario, int pipeline, Rivals rivals) {
    return along_dimension(Dimension::Context, layer_sizes(scenario.parallel), scenario, pipeline,
                           rivals);
}

GroupPlacement context_inner_group(const Scenario& scenario, int pipeline, Rivals rivals) {
    const Parallel& parallel = scenario.parallel;
    const int stride = along(Dimension::Context, parallel, layer_sizes(parallel)).stride;
    return place(
        {first_of(parallel, pipeline), {{scenarios::context_levels(scenario).inner, stride}}},
        rivals_of(parallel, pipeline, rivals), scenario.cluster);
}

GroupPlacement context_outer_group(const Scenario& scenario, int pipeline, Rivals rivals) {
    const Parallel& parallel = scenario.parallel;
    const scenarios::ContextLevels levels = scenarios::context_levels(scenario);
    const int stride = along(Dimension::Context, parallel, layer_sizes(parallel)).stride;
    return place({first_of(parallel, pipeline), {{levels.outer, stride * levels.inner}}},
                 rivals_of(parallel, pipeline, rivals), scenario.cluster);
}

GroupPlacement gradient_group(const Scenario& scenario, int pipeline, ReplicaGroup which) {
    const Parallel& parallel = scenario.parallel;
    const DimensionSizes sizes = layer_sizes(parallel);
    Progression inner = along(Dimension::Context, parallel, sizes);
    Progression outer = along(Dimension::Data, parallel, sizes);
    if (inner.stride > outer.stride) std::swap(inner, outer);
    return place(part_of(first_of(parallel, pipeline), inner, outer, parallel.shards(), which),
                 ranks_of_pipeline_rank(parallel, pipeline), scenario.cluster);
}

GroupPlacement expert_group(const Scenario& scenario, int pipeline, Rivals rivals) {
    return along_dimension(Dimension::Expert, expert_sizes(scenario.parallel), scenario, pipeline,
                           rivals);
}

GroupPlacement expert_tensor_group(const Scenario& scenario, int pipeline, Rivals rivals) {
    return along_dimension(Dimension::Tensor, expert_sizes(scenario.parallel), scenario, pipeline,
                           rivals);
}

GroupPlacement expert_gradient_group(const Scenario& scenario, int pipeline, ReplicaGroup which) {
    const Parallel& parallel = scenario.parallel;
    const Progression all = along(Dimension::Data, parallel, expert_sizes(parallel));
    return place(part_of(first_of(parallel, pipeline), all, {}, parallel.expert_shards(), which),
                 ranks_of_pipeline_rank(parallel, pipeline), scenario.cluster);
}

GroupPlacement pair_group(const Scenario& scenario, int pipeline, int other) {
    const Parallel& parallel = scenario.parallel;
    const int first = std::min(pipeline, other);
    const int stride = along(Dimension::Pipeline, parallel, layer_sizes(parallel)).stride;
    const int distance = std::abs(other - pipeline);
    const Progression pair{distance == 0 ? 1 : 2, std::max(1, distance * stride)};
    return place({first_of(parallel, first), {pair}}, ranks_of_pipeline_rank(parallel, first),
                 scenario.cluster);
}

GroupPlacement pipeline_group(const Scenario& scenario) {
    return along_dimension(Dimension::Pipeline, layer_sizes(scenario.parallel), scenario, 0,
                           Rivals::Job);
}

std::vector<PlacedGroup> placed_groups(const Scenario& scenario) {
    std::vector<PlacedGroup> groups{{"tensor", tensor_group(scenario, 0)},
                                    {"context", context_group(scenario, 0)},
                                    {"data", gradient_group(scenario, 0)},
                                    {"pipeline", pipeline_group(scenario)}};
    if (scenario.model.has_experts())
        groups.insert(groups.end() - 1, {{"expert tensor", expert_tensor_group(scenario, 0)},
                                         {"expert", expert_group(scenario, 0)},
                                         {"expert data", expert_gradient_group(scenario, 0)}});
    std::erase_if(groups, [](const PlacedGroup& group) { return group.at.size < 2; });
    return groups;
}

GroupPlacement whole_job(const Scenario& scenario) {
    const RankSet job = job_of(scenario.parallel);
    return place(job, job, scenario.cluster);
}

}  // namespace debubble::sim
