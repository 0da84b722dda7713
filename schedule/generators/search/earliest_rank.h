#pragma once

#include <algorithm>
#include <bit>
#include <vector>

#include "base/units.h"

namespace debubble {

/// A time per rank, and the rank with the least (the lowest among equals): a
/// tournament tree, so that a change costs log2(ranks).
class EarliestRank {
public:
    explicit EarliestRank(int ranks)
        : leaves_(std::bit_ceil(static_cast<unsigned>(ranks))),
          times_(leaves_, Duration::max()),
          winners_(2 * leaves_) {
        std::fill_n(times_.begin(), ranks, Duration{});
        for (unsigned i = 0; i < leaves_; ++i) winners_[leaves_ + i] = static_cast<int>(i);
        for (unsigned node = leaves_ - 1; node > 0; --node) play(node);
    }

    int earliest() const { return winners_[1]; }
    Duration time_of(int rank) const { return times_[rank]; }
    void set(int rank, Duration time) {
        times_[rank] = time;
        for (unsigned node = (leaves_ + static_cast<unsigned>(rank)) / 2; node > 0; node /= 2) {
            const int before = winners_[node];
            play(node);
            // Where another rank won and wins again, nothing changes further up the tree.
            if (winners_[node] == before && before != rank) return;
        }
    }

private:
    void play(unsigned node) {
        const int left = winners_[2 * node];
        const int right = winners_[2 * node + 1];
        winners_[node] = times_[right] < times_[left] ? right : left;
    }

    unsigned leaves_;
    std::vector<Duration> times_;
    std::vector<int> winners_;  ///< by node; 1 is the root, the children of n are 2n and 2n + 1
};

}  // namespace debubble
