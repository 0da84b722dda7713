#pragma once

#include <cstddef>
#include <map>
#include <utility>
#include <vector>

#include "base/ids.h"
#include "base/units.h"
#include "trace/profile/passes/rank_actions.h"
#include "trace/profile/rank_profile.h"

/// The pipelines of a run, and the two ends of every message in them.
namespace debubble::profile {

/// The place of a rank's file in the pipelines of a run.
struct Place {
    std::int32_t replica = 0;
    Rank rank;
};

/// From the process groups that PyTorch records (a description with "PIPELINE" or "pp"), else all
/// ranks are one pipeline in the order of their numbers. Throws InputError for ranks of different
/// runs.
std::vector<Place> places_of(const std::vector<RankProfile>& ranks);

/// The pipeline rank of every global rank in a pipeline's process group, and of the files' own.
std::map<int, Rank> pipeline_ranks(const std::vector<RankProfile>& ranks,
                                   const std::vector<Place>& places);

/// Throws InputError naming a file that cannot belong to the same run as the first.
void check_one_run(const std::vector<RankProfile>& ranks);

/// One end of a message: the rank's index and its action's.
struct MessageEnd {
    std::size_t rank = 0;
    std::size_t action = 0;
};
using EndPairs = std::vector<std::pair<MessageEnd, MessageEnd>>;  ///< send, recv

struct MatchedMessages {
    EndPairs pairs;
    std::size_t alone = 0;  ///< messages with one recorded end
};

/// Finds both ends of every message of the same replica and step, and fills in their peers. The
/// peer of a message whose other end was not recorded is the rank of the neighbouring stage.
MatchedMessages match_messages(std::vector<RankActions>& ranks, const std::vector<Place>& places);

/// The time of a rank's kernels of point-to-point communication, by its use.
struct ExchangeTimes {
    std::size_t kernels = 0;
    Duration total{};
    Duration transfer{};  ///< from the later start of the two ends
    Duration wait{};      ///< wait for the other end
};

/// The kernel of a message includes its wait for the peer: from the later start on it transfers. By
/// rank. Precondition: the times are of one clock.
std::vector<ExchangeTimes> exchange_times(const std::vector<RankActions>& ranks,
                                          const EndPairs& pairs);

}  // namespace debubble::profile
