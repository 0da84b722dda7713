#pragma once

#include <vector>

#include "base/ids.h"

/// The place of a job's ranks on its four kinds of parallelism.
namespace debubble::exec {

/// A rank's place: its position in each of the groups that it belongs to.
struct GridPlace {
    int tensor = 0;
    int context = 0;
    int data = 0;
    int pipeline = 0;
    friend bool operator==(const GridPlace&, const GridPlace&) = default;
};

/// T x C x D x p ranks; global rank = tp + T (cp + C (dp + D pp)), Megatron's order.
struct RankGrid {
    int tensor = 1;
    int context = 1;
    int data = 1;
    int pipeline = 1;
    friend bool operator==(const RankGrid&, const RankGrid&) = default;

    int replicas() const { return tensor * context * data; }  ///< ranks of each pipeline position
    int size() const { return replicas() * pipeline; }

    int global_rank(const GridPlace& at) const {
        return at.tensor + tensor * (at.context + context * (at.data + data * at.pipeline));
    }
    GridPlace place_of(int global_rank) const {
        return {global_rank % tensor, global_rank / tensor % context,
                global_rank / (tensor * context) % data, global_rank / replicas()};
    }
    /// The index of the rank's pipeline among all T x C x D: tp + T (cp + C dp).
    int replica_of(int global_rank) const { return global_rank % replicas(); }

    /// The ranks that differ from `at` only in their pipeline rank, in the order of that.
    std::vector<int> pipeline_group(GridPlace at) const {
        std::vector<int> ranks;
        for (at.pipeline = 0; at.pipeline < pipeline; ++at.pipeline)
            ranks.push_back(global_rank(at));
        return ranks;
    }
    std::vector<int> tensor_group(GridPlace at) const {
        std::vector<int> ranks;
        for (at.tensor = 0; at.tensor < tensor; ++at.tensor) ranks.push_back(global_rank(at));
        return ranks;
    }
    /// The ranks that share each sequence.
    std::vector<int> context_group(GridPlace at) const {
        std::vector<int> ranks;
        for (at.context = 0; at.context < context; ++at.context) ranks.push_back(global_rank(at));
        return ranks;
    }
    /// The ranks that hold the same slice of the same parameters: they differ in their data and
    /// context ranks.
    std::vector<int> gradient_group(GridPlace at) const {
        std::vector<int> ranks;
        for (at.data = 0; at.data < data; ++at.data)
            for (at.context = 0; at.context < context; ++at.context)
                ranks.push_back(global_rank(at));
        return ranks;
    }
};

}  // namespace debubble::exec
