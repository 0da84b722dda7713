#pragma once

#include <map>
#include <memory>
#include <set>
#include <vector>

#include "sim/uneven/document_groups.h"
#include "sim/uneven/load_curves.h"

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

}  // namespace debubble::sim
