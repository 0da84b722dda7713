#include "trace/steps.h"

#include <algorithm>
#include <map>

#include "trace/span_graph.h"

namespace debubble {
namespace {

using Occurrences = std::vector<std::size_t>;  ///< span indices, by start

struct StepSpan {
    Instant begin = Instant::max();
    Instant end = Instant::min();
    Duration length() const { return end - begin; }
};

Duration median_distance(const std::vector<StepSpan>& steps) {
    std::vector<Duration> distances;
    for (std::size_t k = 1; k < steps.size(); ++k)
        distances.push_back(steps[k].end - steps[k - 1].end);
    std::ranges::sort(distances);
    return std::max(Duration{}, distances[(distances.size() - 1) / 2]);
}

}  // namespace

std::vector<int> step_of_spans(const Trace& trace, int steps) {
    std::map<std::tuple<std::int32_t, Rank, Action>, Occurrences> occurrences;
    for (std::size_t i = 0; i < trace.spans.size(); ++i) {
        const Span& span = trace.spans[i];
        occurrences[{span.replica, span.rank, span.action}].push_back(i);
    }
    std::vector<int> step(trace.spans.size());
    for (const auto& [action, spans] : occurrences) {
        const std::size_t per_step = std::max<std::size_t>(1, spans.size() / steps);
        for (std::size_t k = 0; k < spans.size(); ++k)
            step[spans[k]] = std::min(static_cast<int>(k / per_step), steps - 1);
    }
    return step;
}

int steps_in(const Trace& trace) {
    const auto first =
        std::ranges::find_if(trace.spans, [](const Span& s) { return is_work(s.action); });
    if (first == trace.spans.end()) return 0;
    return static_cast<int>(std::ranges::count_if(trace.spans, [&](const Span& s) {
        return s.rank == first->rank && s.replica == first->replica && s.action == first->action;
    }));
}

Trace median_step(const Trace& trace) {
    const int steps = steps_in(trace);
    if (steps < 2) return trace;
    const std::vector<int> step = step_of_spans(trace, steps);
    std::vector<StepSpan> spans_of_steps(static_cast<std::size_t>(steps));
    for (std::size_t i = 0; i < trace.spans.size(); ++i) {
        StepSpan& own = spans_of_steps[step[i]];
        own.begin = std::min(own.begin, trace.spans[i].begin);
        own.end = std::max(own.end, trace.spans[i].end);
    }
    std::vector<int> by_length(spans_of_steps.size());
    for (int k = 0; k < steps; ++k) by_length[k] = k;
    std::ranges::stable_sort(by_length, {}, [&](int k) { return spans_of_steps[k].length(); });
    const int median = by_length[(by_length.size() - 1) / 2];

    Trace out{trace.header, {}, {}, trace.peaks, trace.program};
    if (out.header.step_time == Duration{}) out.header.step_time = median_distance(spans_of_steps);
    for (std::size_t i = 0; i < trace.spans.size(); ++i)
        if (step[i] == median) out.spans.push_back(trace.spans[i]);
    for (const PairPart& part : trace.pair_parts)
        if (part.begin >= spans_of_steps[median].begin && part.end <= spans_of_steps[median].end)
            out.pair_parts.push_back(part);
    for (const MemorySample& sample : trace.memory)
        if (sample.at >= spans_of_steps[median].begin && sample.at <= spans_of_steps[median].end)
            out.memory.push_back(sample);
    return out;
}

}  // namespace debubble
