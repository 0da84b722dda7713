#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/ids.h"

namespace debubble {

/// The number of ranks p, stages per rank v, microbatches m and sequence slices of a pipeline.
struct PipelineShape {
    int ranks = 1;
    int stages_per_rank = 1;
    int micro_batches = 1;
    int slices = 1;  ///< above 1, every MicroBatch carries its slice
    friend bool operator==(const PipelineShape&, const PipelineShape&) = default;

    int stages() const { return ranks * stages_per_rank; }
    /// The number of computes with a split backward. A real number, since a wrong shape may have
    /// too many to count.
    double computes() const {
        return 3.0 * ranks * stages_per_rank * static_cast<double>(micro_batches) * slices;
    }
};

/// The number of computes of the largest step that can be planned: its simulation needs some eight
/// gigabytes.
inline constexpr double kMostComputes = 2e7;

/// The assignment of stages to ranks: row r names the stages of rank r. Several ranks may hold a
/// stage (bidirectional schedules have two copies of it).
///
///   loop, p=3, v=2:   0 3 | 1 4 | 2 5
///   v, p=3:           0 5 | 1 4 | 2 3
///   bidirectional, 4: 0 3 | 1 2 | 2 1 | 3 0      (S = p)
struct Placement {
    IndexedBy<Rank, std::vector<Stage>> stages;  ///< stages that each rank holds
    friend bool operator==(const Placement&, const Placement&) = default;

    int ranks() const { return static_cast<int>(stages.size()); }
    /// 1 + the greatest stage named. Reads every entry.
    int stage_count() const;
    std::span<const Stage> stages_of(Rank rank) const { return stages[rank.index]; }
    /// Every holder of the stage, in rank order. Reads every entry: for questions about many stages
    /// make a PlacementIndex.
    std::vector<Rank> ranks_of(Stage stage) const;
    /// "loop", "v", "bidirectional" or "custom".
    std::string name() const;
};

Placement loop_placement(int ranks, int stages_per_rank);
Placement v_placement(int ranks);              ///< two stages per rank in a V
Placement bidirectional_placement(int ranks);  ///< precondition: `ranks` is even

/// The entries of a placement, numbered rank by rank, and the holders of every stage: the index of
/// tables over a program. Built in one pass over the entries; a look-up then takes constant time
/// for any number of ranks. Does not follow later changes of the placement.
class PlacementIndex {
public:
    explicit PlacementIndex(const Placement& placement);

    int stage_count() const { return static_cast<int>(first_of_stage_.size()) - 1; }
    /// The holders of the stage in rank order.
    std::span<const Rank> ranks_of(Stage stage) const;
    bool has_several_holders() const { return std::ssize(entries_) > held_; }

    std::size_t size() const { return entries_.size(); }  ///< number of entries
    /// Number of the first entry of the rank; for rank p it is size().
    std::size_t first_of(Rank rank) const { return first_of_rank_[rank.index]; }
    /// Number of the rank's entry for the stage. Precondition: the rank holds the stage.
    std::size_t entry_of(Rank rank, Stage stage) const;

private:
    std::vector<std::size_t> first_of_rank_;
    std::vector<std::size_t> first_of_stage_;  ///< start of each stage in the two below
    std::vector<Rank> holders_;                ///< holders, stage by stage
    std::vector<std::size_t> entries_;
    int held_ = 0;  ///< number of stages that some rank holds
};

/// The number of placement entries that this thread has read. A test bounds the cost of large
/// pipelines by it.
std::int64_t placement_entries_read();

}  // namespace debubble
