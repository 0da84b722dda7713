#pragma once

#include <algorithm>

#include "schedule/dependencies.h"
#include "schedule/replay/replay.h"
#include "trace/trace.h"

namespace debubble {

/// The trace of a compute-only schedule as replay() times it: computes, and a
/// Send and a Recv over every link that takes time.
inline Trace trace_of(const Schedule& schedule, const PipelineCosts& costs) {
    Trace trace;
    trace.header = {TraceSource::Simulated, schedule.name, "", 1, 1, 1, schedule.shape.ranks, true};
    const Replay times = replay(schedule, costs);
    struct Consumer {
        bool exists = false;
        Rank rank;
    };
    const ResultIndex index(schedule);
    std::vector<Consumer> consumers(index.size());
    const auto every = [&](auto&& visit) {
        for (std::size_t r = 0; r < schedule.ranks.size(); ++r)
            for (std::size_t i = 0; i < schedule.ranks[r].size(); ++i)
                visit(Rank{static_cast<int>(r)}, schedule.ranks[r][i], times.ranks[r][i]);
    };
    every([&](Rank rank, const Action& action, const Replay::Times&) {
        for_each_compute(action, [&](const Compute& c) {
            if (const auto m = neighbour_input_of(c, index.stage_count()))
                consumers[index.of(*m)] = {true, rank};
        });
    });
    every([&](Rank rank, const Action& action, const Replay::Times& t) {
        trace.spans.push_back({rank, 0, Lane::Compute, action, t.begin, t.end, {}, {}});
        for_each_compute(action, [&](const Compute& c) {
            const auto m = result_of(c);
            if (!m || costs.link == Duration{}) return;
            const Consumer& to = consumers[index.of(*m)];
            if (!to.exists || to.rank == rank) return;
            const Bytes size{1 << 20};
            const Instant there = t.end + costs.link;
            trace.spans.push_back({rank, 0, Lane::Send, Send{*m, to.rank}, t.end, there, {}, size});
            trace.spans.push_back({to.rank, 0, Lane::Recv, Recv{*m, rank}, t.end, there, {}, size});
        });
    });
    std::ranges::sort(trace.spans, {},
                      [](const Span& s) { return std::tuple(s.begin, s.rank, s.lane); });
    return trace;
}

}  // namespace debubble
