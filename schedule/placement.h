#pragma once

#include <span>
#include <string>
#include <vector>

#include "base/ids.h"

namespace debubble {

/// How stages lie on ranks: row r names the stages of rank r. A stage may lie
/// on several ranks (bidirectional schedules hold two copies of it).
///
///   loop, p=3, v=2:   0 3 | 1 4 | 2 5
///   v, p=3:           0 5 | 1 4 | 2 3
///   bidirectional, 4: 0 3 | 1 2 | 2 1 | 3 0      (S = p)
struct Placement {
    std::vector<std::vector<Stage>> stages;  ///< indexed by rank
    friend bool operator==(const Placement&, const Placement&) = default;

    int ranks() const { return static_cast<int>(stages.size()); }
    /// 1 + the greatest stage named.
    int stage_count() const;
    std::span<const Stage> stages_of(Rank rank) const { return stages[rank.index]; }
    /// Every holder of the stage, in rank order.
    std::vector<Rank> ranks_of(Stage stage) const;
    /// "loop", "v", "bidirectional" or "custom".
    std::string name() const;
};

Placement loop_placement(int ranks, int stages_per_rank);
Placement v_placement(int ranks);              ///< two stages per rank
Placement bidirectional_placement(int ranks);  ///< precondition: even

}  // namespace debubble
