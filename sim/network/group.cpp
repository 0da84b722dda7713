#include "sim/network/group.h"

#include <algorithm>
#include <cassert>
#include <cstdlib>

#include "scenarios/plan/derived.h"

namespace debubble::sim {
namespace {

/// The members of `group` in each bin of `width` consecutive global ranks.
struct Spread {
    int bins = 0;
    int most = 0;
};
Spread spread(const RankGroup& group, int width) {
    Spread result;
    int current = -1;
    int members = 0;
    for (int i = 0; i < group.size; ++i) {
        const int bin = (group.first + group.stride * i) / width;
        if (bin != current) {
            current = bin;
            members = 0;
            ++result.bins;
        }
        result.most = std::max(result.most, ++members);
    }
    return result;
}

/// The most ranks of the block in one bin of `width` ranks.
int most_of(const RankBlock& block, int width) {
    const int into_first = width - block.first % width;
    const int first = std::min(block.count, into_first);
    const int next = std::min(block.count - first, width);
    return std::max(first, next);
}

int divide_up(int a, int b) {
    return (a + b - 1) / b;
}

RankBlock block_of(const scenarios::Scenario& scenario, int pipeline) {
    const int count = scenario.parallel.ranks_of_stage();
    return {pipeline * count, count};
}

RankBlock job_of(const scenarios::Scenario& scenario) {
    return {0, scenario.parallel.gpus()};
}

/// The part of the replicas `all`, which are cut into groups of `shards` neighbours.
RankGroup part_of(const RankGroup& all, int shards, ReplicaGroup which) {
    switch (which) {
        case ReplicaGroup::All: return all;
        case ReplicaGroup::Shards: return {all.first, all.stride, shards};
        case ReplicaGroup::Copies: return {all.first, all.stride * shards, all.size / shards};
    }
    return all;
}

RankBlock block_of(const scenarios::Scenario& scenario, int pipeline, Rivals rivals) {
    return rivals == Rivals::Job ? job_of(scenario) : block_of(scenario, pipeline);
}

}  // namespace

GroupPlacement place(const RankGroup& group, const RankBlock& block,
                     const scenarios::Cluster& cluster) {
    assert(group.size >= 1 && group.stride >= 1 && "a group has members, in order");
    const int node = std::max(1, cluster.gpus_per_node);
    const Spread nodes = spread(group, node);
    GroupPlacement result{group.size, nodes.bins, nodes.most, 1, 1, 1};
    result.groups_per_node = divide_up(most_of(block, node), nodes.most);
    if (cluster.network.nodes_per_leaf > 0) {
        const int leaf = node * cluster.network.nodes_per_leaf;
        const Spread leaves = spread(group, leaf);
        result.leaves = leaves.bins;
        result.groups_per_leaf = divide_up(most_of(block, leaf), leaves.most);
    } else {
        result.groups_per_leaf = result.groups_per_node * result.nodes;
    }
    return result;
}

GroupPlacement tensor_group(const scenarios::Scenario& scenario, int pipeline, Rivals rivals) {
    return place({block_of(scenario, pipeline).first, 1, scenario.parallel.tensor},
                 block_of(scenario, pipeline, rivals), scenario.cluster);
}

GroupPlacement context_group(const scenarios::Scenario& scenario, int pipeline, Rivals rivals) {
    const scenarios::Parallel& parallel = scenario.parallel;
    return place({block_of(scenario, pipeline).first, parallel.tensor, parallel.context},
                 block_of(scenario, pipeline, rivals), scenario.cluster);
}

GroupPlacement context_inner_group(const scenarios::Scenario& scenario, int pipeline,
                                   Rivals rivals) {
    return place({block_of(scenario, pipeline).first, scenario.parallel.tensor,
                  scenarios::context_levels(scenario).inner},
                 block_of(scenario, pipeline, rivals), scenario.cluster);
}

GroupPlacement context_outer_group(const scenarios::Scenario& scenario, int pipeline,
                                   Rivals rivals) {
    const scenarios::ContextLevels levels = scenarios::context_levels(scenario);
    return place(
        {block_of(scenario, pipeline).first, scenario.parallel.tensor * levels.inner, levels.outer},
        block_of(scenario, pipeline, rivals), scenario.cluster);
}

GroupPlacement gradient_group(const scenarios::Scenario& scenario, int pipeline,
                              ReplicaGroup which) {
    const scenarios::Parallel& parallel = scenario.parallel;
    const RankBlock block = block_of(scenario, pipeline);
    const RankGroup all{block.first, parallel.tensor, parallel.replicas()};
    return place(part_of(all, parallel.shards(), which), block, scenario.cluster);
}

GroupPlacement expert_group(const scenarios::Scenario& scenario, int pipeline, Rivals rivals) {
    const scenarios::Parallel& parallel = scenario.parallel;
    return place({block_of(scenario, pipeline).first, parallel.expert_tensor, parallel.expert},
                 block_of(scenario, pipeline, rivals), scenario.cluster);
}

GroupPlacement expert_tensor_group(const scenarios::Scenario& scenario, int pipeline,
                                   Rivals rivals) {
    return place({block_of(scenario, pipeline).first, 1, scenario.parallel.expert_tensor},
                 block_of(scenario, pipeline, rivals), scenario.cluster);
}

GroupPlacement expert_gradient_group(const scenarios::Scenario& scenario, int pipeline,
                                     ReplicaGroup which) {
    const scenarios::Parallel& parallel = scenario.parallel;
    const RankBlock block = block_of(scenario, pipeline);
    const RankGroup all{block.first, parallel.expert_tensor * parallel.expert,
                        parallel.expert_replicas()};
    return place(part_of(all, parallel.expert_shards(), which), block, scenario.cluster);
}

GroupPlacement pair_group(const scenarios::Scenario& scenario, int pipeline, int other) {
    const RankBlock block = block_of(scenario, std::min(pipeline, other));
    const int distance = std::abs(other - pipeline) * block.count;
    return place({block.first, std::max(1, distance), distance == 0 ? 1 : 2}, block,
                 scenario.cluster);
}

GroupPlacement whole_job(const scenarios::Scenario& scenario) {
    const RankBlock job = job_of(scenario);
    return place({0, 1, job.count}, job, scenario.cluster);
}

}  // namespace debubble::sim
