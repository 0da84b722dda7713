#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/units.h"

namespace debubble::profile {

/// A message of which both ends are known, or a collective that ends on two ranks: times by the
/// clocks of its ranks.
struct MatchedEnds {
    std::size_t from = 0;  ///< index of the rank
    std::size_t to = 0;
    std::int64_t sent = 0;  ///< begin of the send
    std::int64_t send_ended = 0;
    std::int64_t recv_began = 0;
    std::int64_t received = 0;  ///< end of the receive
};

struct Clocks {
    std::vector<std::int64_t> ahead;  ///< by rank: its clock less the first rank's, in ns
    /// By rank: seconds that its clock gains on the first rank's in a second, around `drift_from`,
    /// at which `ahead` holds. Empty where clocks do not drift, or too little is known to tell.
    std::vector<double> drift;
    std::int64_t drift_from = 0;
    Duration error{};  ///< 95th percentile of what remains between two ends
    std::size_t matched = 0;
    bool shared = false;  ///< the clocks agree as they are
    std::string
        why_not;  ///< why they cannot be aligned, a sentence without its subject; empty if they can

    /// What a rank's clock showed, by the first rank's.
    std::int64_t moved(std::size_t rank, std::int64_t at) const;
};

/// Both ends of an exchange by NCCL end within microseconds, so that the clocks of two ranks differ
/// by the median distance of those ends; chains of ranks are closed by least squares. Over a second
/// and more clocks may drift: each pair then differs by a straight line through the medians of the
/// first and the last third of their messages (Tukey 1970, the resistant line), if that halves what
/// remains.
Clocks align_by_ends(std::size_t ranks, const std::vector<MatchedEnds>& matched);

/// Elsewhere the ends of a message say little, but nothing is received before it is sent: the
/// clocks stay as they are if that holds, else they are moved as little as makes it hold.
Clocks align_by_order(std::size_t ranks, const std::vector<MatchedEnds>& matched);

}  // namespace debubble::profile
