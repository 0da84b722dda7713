#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "schedule/schedule.h"

namespace debubble {

/// Ranks that communicate in one order: a channel (from, to, kind of message), the holders of a
/// stage for its gradient, the holders of the tied tensor, or all ranks.
struct Communicator {
    struct Side {
        Rank rank;
        std::vector<std::size_t> positions;  ///< positions of its actions in the rank's list
    };
    std::vector<Side> sides;  ///< for a channel: the sender, then the receiver
    bool is_channel = false;
};

/// The index of an action among the actions of one side of its communicator.
struct Part {
    std::optional<int> communicator;  ///< unset for an action that does not communicate
    int side = 0;
    std::size_t number = 0;
};

class Communicators {
public:
    explicit Communicators(const Program& program);

    std::span<const Communicator> all() const { return all_; }
    const Communicator& operator[](int index) const { return all_[index]; }
    const Part& part(Rank rank, std::size_t position) const { return parts_[rank.index][position]; }
    /// The communicators that the rank takes part in, each with its side.
    std::span<const Part> of(Rank rank) const { return of_rank_[rank.index]; }

private:
    std::vector<Communicator> all_;
    std::vector<std::vector<Part>> parts_;    ///< part of each action, by rank and position
    std::vector<std::vector<Part>> of_rank_;  ///< indexed by rank; without parts
};

}  // namespace debubble
