#pragma once

#include <vector>

#include "base/ids.h"
#include "trace/profile/rank_profile.h"

namespace debubble::profile {

/// The place of a rank's file in the pipelines of a run.
struct Place {
    std::int32_t replica = 0;
    Rank rank;
};

/// By the process groups that PyTorch writes (a description with "PIPELINE" or "pp"), else all
/// ranks are one pipeline in the order of their numbers. Throws InputError for ranks of different
/// runs.
std::vector<Place> places_of(const std::vector<RankProfile>& ranks);

/// Throws InputError naming a file that cannot be of the same run as the first.
void check_one_run(const std::vector<RankProfile>& ranks);

}  // namespace debubble::profile
