#pragma once

#include <cstddef>
#include <optional>

#include "schedule/placement.h"

namespace debubble::sim {

/// The stages of one rank, counted from 0. The stage of the last question costs no look-up: most
/// are asked for again at once.
class LocalStages {
public:
    LocalStages(const PlacementIndex& index, Rank rank) : index_(index), rank_(rank) {}

    /// Precondition: the rank holds the stage.
    std::size_t index_of(Stage stage) {
        if (last_ != stage) {
            last_index_ = index_.entry_of(rank_, stage) - index_.first_of(rank_);
            last_ = stage;
        }
        return last_index_;
    }

private:
    const PlacementIndex& index_;
    Rank rank_;
    std::optional<Stage> last_;
    std::size_t last_index_ = 0;
};

}  // namespace debubble::sim
