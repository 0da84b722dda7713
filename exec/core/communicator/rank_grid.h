#pragma once

#include <optional>
#include <vector>

#include "base/ids.h"
#include "scenarios/plan/rank_order.h"

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

/// T x C x D x p ranks, which global ranks count in `order`: in Megatron's, global rank = tp + T
/// (cp + C (dp + D pp)). The groups of experts are cut from the same T x C x D ranks
/// (Megatron-Core's parallel_state.py): global rank = etp + ETP (ep + EP (edp + EDP pp)) in that
/// order. Precondition: of a job with experts, layers and experts have equally many ranks inside a
/// pipeline, as a scenario that was read has.
struct RankGrid {
    int tensor = 1;
    int context = 1;
    int data = 1;
    int pipeline = 1;
    int expert = 1;  ///< ranks that share a layer's experts
    /// Ranks that cut each expert; unset: there are no experts, or they are cut like everything
    /// else.
    std::optional<int> expert_tensor = {};
    scenarios::RankOrder order = {};
    friend bool operator==(const RankGrid&, const RankGrid&) = default;

    int replicas() const { return tensor * context * data; }  ///< ranks of each pipeline position
    int size() const { return replicas() * pipeline; }
    int expert_cuts() const { return expert_tensor.value_or(tensor); }
    /// Ranks among which a layer's experts are spread.
    int expert_block() const { return expert_cuts() * expert; }
    int expert_replicas() const { return replicas() / expert_block(); }
    /// Whether experts have groups of their own.
    bool experts_apart() const { return expert > 1 || expert_cuts() != tensor; }

    int global_rank(const GridPlace& at) const;
    GridPlace place_of(int global_rank) const;
    ExpertPlace expert_place_of(int global_rank) const;
    /// The index of the rank's pipeline among all T x C x D: tp + T (cp + C dp).
    int replica_of(int global_rank) const;

    /// The ranks that differ from `at` only in their pipeline rank, in the order of that.
    std::vector<int> pipeline_group(GridPlace at) const;
    std::vector<int> tensor_group(GridPlace at) const;
    /// The ranks that share each sequence.
    std::vector<int> context_group(GridPlace at) const;
    /// The ranks that hold the same slice of the same parameters: they differ in their data and
    /// context ranks.
    std::vector<int> gradient_group(GridPlace at) const;
    /// The ranks that share a layer's experts, with the same part of each.
    std::vector<int> expert_group(const GridPlace& at) const;
    /// The ranks that cut each expert of this rank.
    std::vector<int> expert_tensor_group(const GridPlace& at) const;
    /// All ranks that have a part of the same layer's experts: those that cut the first rank's
    /// experts, then those that cut the second's.
    std::vector<int> expert_block_group(const GridPlace& at) const;
    /// The ranks that hold the same slice of the same experts.
    std::vector<int> expert_gradient_group(const GridPlace& at) const;

private:
    scenarios::DimensionSizes layer_sizes() const { return {tensor, context, 1, data, pipeline}; }
    scenarios::DimensionSizes expert_sizes() const {
        return {expert_cuts(), 1, expert, expert_replicas(), pipeline};
    }
    std::vector<int> along_experts(const GridPlace& at, scenarios::Dimension dimension) const;
};

}  // namespace debubble::exec
