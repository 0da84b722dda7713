#pragma once

#include <map>
#include <memory>
#include <optional>
#include <set>
#include <vector>

#include "sim/uneven/delegating_cost_model.h"
#include "sim/uneven/document_groups.h"
#include "sim/uneven/load_curves.h"

/// The costs of steps of packed documents.
namespace debubble::sim {

/// The costs of passes over packed documents, by the ranks of their group, the tokens of a rank,
/// and the pairs of tokens in the causal mask. Passes are priced at some numbers of tokens, in some
/// numbers of equal documents, and interpolated linearly: attention is linear in pairs at a number
/// of tokens, everything else linear in tokens. Immutable after construction.
class PackedPrices {
public:
    /// `sizes` are those of the groups that occur. The contents of stages and the schedule are
    /// valid for any number of microbatches.
    PackedPrices(const scenarios::Scenario& scenario,
                 const std::vector<models::StageContent>& stages, const Schedule& schedule,
                 const Program& program, const std::set<int>& sizes);

    const scenarios::Scenario& scenario() const { return scenario_; }
    const std::vector<models::StageContent>& stages() const { return stages_; }
    /// The works of the program with their microbatches cleared, one for each pipeline rank.
    const std::vector<std::pair<Work, Rank>>& works() const { return works_; }
    std::size_t index_of(const Work& work, Rank rank) const {
        return index_.at({without_micro_batches(work), rank});
    }

    /// The cost of the work with this index over the documents of a group.
    ComputeCost cost(std::size_t work, const DocumentGroup& group) const;
    /// The costs of a group of this size whose ranks are full.
    const CostModel& full(int ranks) const { return *groups_.at(ranks).full; }
    double full_tokens(int ranks) const { return groups_.at(ranks).nodes.back().tokens; }

private:
    struct Point {
        double pairs;                    ///< of tokens, over the ranks of the group
        std::vector<ComputeCost> costs;  ///< by work
    };
    struct Node {
        double tokens;              ///< of a rank
        std::vector<Point> points;  ///< sorted by pairs
    };
    struct OfGroup {
        std::vector<Node> nodes;  ///< sorted by tokens
        std::unique_ptr<const CostModel> full;
    };
    OfGroup priced(int ranks, const Schedule& schedule) const;
    Node priced(int ranks, std::int64_t tokens, const Schedule& schedule,
                std::unique_ptr<const CostModel>* whole) const;

    scenarios::Scenario scenario_;
    std::vector<models::StageContent> stages_;
    std::vector<std::pair<Work, Rank>> works_;
    std::map<std::pair<Work, Rank>, std::size_t> index_;
    std::map<int, OfGroup> groups_;
};

/// The work of every rank of data x context in a step of packed documents. The ranks of a group
/// wait for each other before each microbatch, and so do those that share experts, in whose layers
/// the slowest of them determines the time. Without a pipeline these waits are exact; in one, every
/// pipeline rank waits as if only its own work delayed it.
class PackedStep {
public:
    /// `prices` must outlive the step.
    PackedStep(const PackedPrices& prices, std::vector<PackedMicroBatch> micro_batches);

    const PackedPrices& prices() const { return prices_; }
    const std::vector<PackedMicroBatch>& micro_batches() const { return micro_batches_; }
    const DocumentGroup& group(int micro_batch, int position) const;
    /// The cost of the work with this index on a rank of data x context, without its wait.
    const ComputeCost& cost(int micro_batch, int position, std::size_t work) const;
    int pipeline() const { return static_cast<int>(priced_.front().wait.front().size()); }
    /// The wait of the pipeline rank for its group before the microbatch's forward.
    Duration wait(int micro_batch, int position, Rank rank) const;
    /// The mean over microbatches and ranks of data x context.
    const ComputeCost& mean_cost(std::size_t work) const { return mean_costs_[work]; }

    /// One rank of data x context for each distinct list of work.
    const std::vector<int>& distinct_positions() const { return distinct_; }
    /// The tokens of all documents.
    double tokens() const;
    /// The part of the time until the last rank has done its work, in which the others wait: the
    /// mean over ranks, for the pipeline rank with the most work.
    double waiting() const { return waiting_; }

private:
    struct Priced {
        std::vector<int> set_of;                      ///< by position
        std::vector<std::vector<ComputeCost>> costs;  ///< by set, then by work
        std::vector<IndexedBy<Rank, Duration>> wait;  ///< by position, then by pipeline rank
    };
    Priced priced(const PackedMicroBatch& micro_batch, int block) const;
    void find_waits(int positions);
    void find_distinct(int positions);
    void find_means(int positions);

    const PackedPrices& prices_;
    std::vector<PackedMicroBatch> micro_batches_;
    std::vector<Priced> priced_;  ///< by microbatch
    std::vector<ComputeCost> mean_costs_;
    std::vector<int> distinct_;
    double waiting_ = 0;
};

/// The costs of one rank of data x context in such a step, or of a step in which every microbatch
/// of every rank has the mean work. Its communication has the costs of the last microbatch's group,
/// whose backward the reduction overlaps.
class PackedCostModel final : public DelegatingCostModel {
public:
    /// `step` must outlive the model. `position` unset: the mean.
    PackedCostModel(const PackedStep& step, std::optional<int> position);

    bool per_micro_batch() const override { return true; }
    ComputeCost compute(const Compute& action, Rank rank) const override;
    ComputeCost recompute(const Recompute& action, Rank rank) const override {
        return cost(action, action.micro_batch, rank);
    }
    Flow transfer(const Message& message, Rank from, Rank to) const override;

private:
    ComputeCost cost(const Work& work, const MicroBatch& micro_batch, Rank rank) const;

    const PackedStep& step_;
    std::optional<int> position_;
};

}  // namespace debubble::sim
