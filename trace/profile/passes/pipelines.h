#pragma once

#include <map>
#include <vector>

#include "base/ids.h"
#include "trace/profile/rank_profile.h"

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

}  // namespace debubble::profile
