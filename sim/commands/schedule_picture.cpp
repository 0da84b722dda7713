#include "sim/commands/cost_units.h"

#include <algorithm>
#include <sstream>

#include <fmt/format.h>

#include "text/wording.h"
#include "trace/picture/shapes/svg.h"
#include "trace/statistics.h"

namespace debubble::sim {
namespace {

constexpr double kSecondsPerUnit = 1e-3;

Instant at(Instant replayed, const CostUnits& units) {
    return Instant{from_seconds(units.in_units(replayed.time_since_epoch()) * kSecondsPerUnit)};
}

Trace trace_of(const Schedule& schedule, const Replay& replay, const CostUnits& units) {
    Trace trace;
    trace.header = {.source = TraceSource::Simulated,
                    .scenario = schedule.name,
                    .pipeline = schedule.shape.ranks};
    for (std::size_t rank = 0; rank < schedule.ranks.size(); ++rank)
        for (std::size_t i = 0; i < schedule.ranks[rank].size(); ++i) {
            const Replay::Times& times = replay.ranks[rank][i];
            Span& span = trace.spans.emplace_back();
            span.rank = Rank{static_cast<int>(rank)};
            span.action = schedule.ranks[rank][i];
            span.begin = at(times.begin, units);
            span.end = at(times.end, units);
        }
    std::ranges::stable_sort(trace.spans, [](const Span& a, const Span& b) {
        return std::pair(a.begin, a.rank.index) < std::pair(b.begin, b.rank.index);
    });
    return trace;
}

}  // namespace

std::string picture_of(const Schedule& schedule, const Replay& replay, const CostUnits& units) {
    const PipelineShape& shape = schedule.shape;
    const Trace trace = trace_of(schedule, replay, units);
    SvgOptions options;
    options.title = fmt::format("{}: makespan {:.6g}, bubble {}", schedule.name,
                                units.in_units(replay.makespan), text::percent(replay.bubble));
    options.subtitle = fmt::format("{} ranks x {} stages, {} microbatches; a unit of cost is 1 ms",
                                   shape.ranks, shape.stages_per_rank, shape.micro_batches);
    std::ostringstream out;
    write_svg(trace, statistics(trace), options, out);
    return std::move(out).str();
}

}  // namespace debubble::sim
