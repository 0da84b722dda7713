#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/units.h"

namespace debubble::profile {

/// A message with two known ends, or a collective that ends on two ranks: times by the clocks of
/// its ranks.
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
    /// at which `ahead` is exact. Unset where clocks do not drift, or the data do not suffice.
    std::optional<std::vector<double>> drift;
    std::int64_t drift_from = 0;
    Duration error{};  ///< 95th percentile of the remaining difference of two ends
    std::size_t matched = 0;
    bool shared = false;  ///< the clocks agree unchanged
    std::optional<std::string>
        why_not;  ///< why they cannot be aligned, a sentence without its subject; unset if they can

    /// A rank's time by the first rank's clock.
    std::int64_t moved(std::size_t rank, std::int64_t at) const;
};

/// Both ends of a transfer by NCCL end within microseconds, so the clocks of two ranks differ by
/// the median distance of those ends; chains of ranks are closed by least squares. Over a second
/// and more clocks may drift: each pair then differs by a straight line through the medians of the
/// first and the last third of their messages (Tukey 1970, the resistant line), if that halves the
/// remaining difference.
Clocks align_by_ends(std::size_t ranks, const std::vector<MatchedEnds>& matched);

/// Otherwise the ends of a message reveal little, except that nothing is received before it is
/// sent: the clocks stay unchanged if that is true, else they are moved by the least amount that
/// makes it true.
Clocks align_by_order(std::size_t ranks, const std::vector<MatchedEnds>& matched);

}  // namespace debubble::profile
