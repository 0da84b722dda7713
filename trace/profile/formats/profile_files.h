#pragma once

#include <iosfwd>
#include <string>
#include <string_view>
#include <vector>

#include "trace/profile/rank_profile.h"
#include "trace/trace.h"

/// Files of the profilers of frameworks.
namespace debubble::profile {

/// Reads a file of torch.profiler (libkineto/src/output_json.cpp), plain or gzip. The text is read
/// once, event by event, and only its kernels, launches and marked ranges are kept, or its
/// operators if it has no kernels: some 50 bytes each. Instants are nanoseconds since 1970:
/// baseTimeNanoseconds + 1000 ts, with all written decimals. A text that ends between two events is
/// read up to there. Throws InputError with the byte of every other mistake.
RankProfile read_kineto(const std::string& file);
/// The same for a text in memory; `name` is for diagnostics.
RankProfile read_kineto_text(std::string_view text, const std::string& name);

/// Reads a database of Nsight Systems (`nsys export --type sqlite`): kernels, copies, launches and
/// NVTX ranges, one rank for each of its processes with kernels. Tables differ by version and are
/// missing when they are empty, so the database is queried for its tables. Instants are nanoseconds
/// since 1970 where it records when the session began. Throws InputError for a file that is not
/// such a database, or that has no kernels, or whose tables lack a column that is read.
std::vector<RankProfile> read_nsight(const std::string& file);

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
