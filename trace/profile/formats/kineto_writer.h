#pragma once

#include <iosfwd>
#include <vector>

#include "trace/trace.h"

namespace debubble::profile {

/// One pipeline rank of one replica, for which a profiler writes one file.
struct WrittenRank {
    std::int32_t replica = 0;
    Rank rank;
    int global_rank = 0;
};
std::vector<WrittenRank> written_ranks(const Trace& trace);

/// The spans of one rank as torch.profiler records a run of torch.distributed.pipelining: the host
/// runs ahead and marks a range "PP:2F0" for every action, in which it launches its kernels.
/// Communication inside a compute is a kernel between its kernels. read_kineto() and put_together()
/// give the same times back, to the nanosecond.
void write_kineto(const Trace& trace, const WrittenRank& rank, std::ostream& out);

}  // namespace debubble::profile
