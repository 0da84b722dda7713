#include "trace/profile/runs/profiled_run.h"

#include <fmt/format.h>

#include "trace/io/trace_formats.h"

namespace debubble::profile {
namespace {

/// One of debubble's own traces as a fully known run.
ProfiledRun own_run(const std::string& file) {
    ProfiledRun run;
    run.trace = read_trace(file);
    run.clocks.error = run.trace.header.clock_error.ranks;
    run.clocks.shared = true;
    for (int rank = 0; rank < run.trace.header.pipeline; ++rank) {
        RankFacts facts;
        facts.file = file;
        facts.format = fmt::format("debubble ({})", run.trace.header.source_name());
        facts.global_rank = rank;
        facts.rank = Rank{rank};
        facts.evidence = Evidence::Named;
        for (const Span& span : run.trace.spans)
            facts.anchors += span.rank == facts.rank && span.lane == Lane::Compute;
        facts.fitting = facts.anchors;
        run.ranks.push_back(std::move(facts));
    }
    return run;
}

}  // namespace

ProfiledRun read_any_run(const std::vector<std::string>& files, const RunOptions& options) {
    if (files.size() == 1 && kind_of_trace(files.front()) == TraceKind::Own)
        return own_run(files.front());
    return read_run(files, options);
}

}  // namespace debubble::profile
