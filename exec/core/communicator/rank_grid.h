#pragma once

#include <optional>
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

/// A rank's place among those of its pipeline position, where it has experts.
struct ExpertPlace {
    int tensor = 0;  ///< among the ranks that cut each expert
    int expert = 0;  ///< among those that share a layer's experts
    int data = 0;    ///< among those that have the same part of the same experts
    friend bool operator==(const ExpertPlace&, const ExpertPlace&) = default;
};

/// T x C x D x p ranks; global rank = tp + T (cp + C (dp + D pp)), Megatron's order. The groups of
/// experts are cut from the same T x C x D ranks (Megatron-Core's parallel_state.py): global rank =
/// etp + ETP (ep + EP (edp + EDP pp)).
struct RankGrid {
    int tensor = 1;
    int context = 1;
    int data = 1;
    int pipeline = 1;
    int expert = 1;  ///< ranks that share a layer's experts
    /// Ranks that cut each expert; unset: there are no experts, or they are cut like everything
    /// else.
    std::optional<int> expert_tensor = {};
    friend bool operator==(const RankGrid&, const RankGrid&) = default;

    int replicas() const { return tensor * context * data; }  ///< ranks of each pipeline position
    int size() const { return replicas() * pipeline; }
    int expert_cuts() const { return expert_tensor.value_or(tensor); }
    /// Ranks among which a layer's experts are spread.
    int expert_block() const { return expert_cuts() * expert; }
    int expert_replicas() const { return replicas() / expert_block(); }
    /// Whether experts have groups of their own.
    bool experts_apart() const { return expert > 1 || expert_cuts() != tensor; }

    int global_rank(const GridPlace& at) const {
        return at.tensor + tensor * (at.context + context * (at.data + data * at.pipeline));
    }
    GridPlace place_of(int global_rank) const {
        return {global_rank % tensor, global_rank / tensor % context,
                global_rank / (tensor * context) % data, global_rank / replicas()};
    }
    ExpertPlace expert_place_of(int global_rank) const {
        return {global_rank % expert_cuts(), global_rank / expert_cuts() % expert,
                global_rank % replicas() / expert_block()};
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
    /// The ranks that share a layer's experts, with the same part of each.
    std::vector<int> expert_group(const GridPlace& at) const {
        const int rank = global_rank(at);
        const ExpertPlace mine = expert_place_of(rank);
        return progression(rank - mine.expert * expert_cuts(), expert_cuts(), expert);
    }
    /// The ranks that cut each expert of this rank.
    std::vector<int> expert_tensor_group(const GridPlace& at) const {
        const int rank = global_rank(at);
        return progression(rank - expert_place_of(rank).tensor, 1, expert_cuts());
    }
    /// All ranks that have a part of the same layer's experts, in the order of the global ranks.
    std::vector<int> expert_block_group(const GridPlace& at) const {
        const int rank = global_rank(at);
        return progression(rank - rank % expert_block(), 1, expert_block());
    }
    /// The ranks that hold the same slice of the same experts.
    std::vector<int> expert_gradient_group(const GridPlace& at) const {
        const int rank = global_rank(at);
        return progression(rank - expert_place_of(rank).data * expert_block(), expert_block(),
                           expert_replicas());
    }

private:
    static std::vector<int> progression(int first, int stride, int count) {
        std::vector<int> ranks;
        for (int i = 0; i < count; ++i) ranks.push_back(first + i * stride);
        return ranks;
    }
};

}  // namespace debubble::exec
