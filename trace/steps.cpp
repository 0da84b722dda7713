#include "trace/steps.h"

#include <algorithm>
#include <map>
#include <numeric>

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

namespace {

/// The extent of every step.
std::vector<StepSpan> extents_of(const Trace& trace, const std::vector<int>& step, int steps) {
    std::vector<StepSpan> extents(steps);
    for (std::size_t i = 0; i < trace.spans.size(); ++i) {
        StepSpan& own = extents[step[i]];
        own.begin = std::min(own.begin, trace.spans[i].begin);
        own.end = std::max(own.end, trace.spans[i].end);
    }
    return extents;
}

std::size_t median_of(const std::vector<StepSpan>& extents) {
    std::vector<std::size_t> by_length(extents.size());
    std::iota(by_length.begin(), by_length.end(), std::size_t{0});
    std::ranges::stable_sort(by_length, {}, [&](std::size_t k) { return extents[k].length(); });
    return by_length[(by_length.size() - 1) / 2];
}

Trace step_of(const Trace& trace, const std::vector<int>& step, int number,
              const StepSpan& extent) {
    Trace out{trace.header, {}, {}, trace.peaks, trace.program};
    for (std::size_t i = 0; i < trace.spans.size(); ++i)
        if (step[i] == number) out.spans.push_back(trace.spans[i]);
    for (const PairPart& part : trace.pair_parts)
        if (part.begin >= extent.begin && part.end <= extent.end) out.pair_parts.push_back(part);
    for (const MemorySample& sample : trace.memory)
        if (sample.at >= extent.begin && sample.at <= extent.end) out.memory.push_back(sample);
    out.exposed_parts = trace.exposed_parts;
    return out;
}

std::optional<Duration> if_any(Duration distance) {
    return distance > Duration{} ? std::optional(distance) : std::nullopt;
}

}  // namespace

SplitSteps split_steps(const Trace& trace) {
    const int count = steps_in(trace);
    if (count < 2) return {{trace}, 0};
    const std::vector<int> step = step_of_spans(trace, count);
    const std::vector<StepSpan> extents = extents_of(trace, step, count);
    SplitSteps out{{}, median_of(extents)};
    for (int k = 0; k < count; ++k) {
        Trace& own = out.steps.emplace_back(step_of(trace, step, k, extents[k]));
        if (own.header.step_time) continue;
        if (static_cast<std::size_t>(k) == out.median)
            own.header.step_time = if_any(median_distance(extents));
        else if (k > 0)
            own.header.step_time = if_any(extents[k].end - extents[k - 1].end);
    }
    return out;
}

Trace median_step(const Trace& trace) {
    const int steps = steps_in(trace);
    if (steps < 2) return trace;
    const std::vector<int> step = step_of_spans(trace, steps);
    const std::vector<StepSpan> extents = extents_of(trace, step, steps);
    const std::size_t median = median_of(extents);
    Trace out = step_of(trace, step, static_cast<int>(median), extents[median]);
    if (!out.header.step_time) out.header.step_time = if_any(median_distance(extents));
    return out;
}

}  // namespace debubble
