#pragma once

#include <string>
#include <vector>

#include "trace/profile/rank_profile.h"

namespace debubble::profile {

/// Reads a database of Nsight Systems (`nsys export --type sqlite`): kernels, copies, launches and
/// NVTX ranges, one rank for each of its processes with kernels. Tables differ by version and are
/// missing when they are empty, so the database is queried for its tables. Instants are nanoseconds
/// since 1970 where it records when the session began. Throws InputError for a file that is not
/// such a database, or that has no kernels, or whose tables lack a column that is read.
std::vector<RankProfile> read_nsight(const std::string& file);

}  // namespace debubble::profile
