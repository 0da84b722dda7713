#include "exec/interpreter/step_record.h"

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

namespace debubble::exec {

Lane lane_of(const Action& action) {
    return std::visit(Overloaded{
                          [](const Compute&) { return Lane::Compute; },
                          [](const Recompute&) { return Lane::Compute; },
                          [](const Overlap&) { return Lane::Compute; },
                          [](const OptimizerStep&) { return Lane::Compute; },
                          [](const Send&) { return Lane::Send; },
                          [](const Recv&) { return Lane::Recv; },
                          [](const Unshard&) { return Lane::Collective; },
                          [](const Reshard&) { return Lane::Collective; },
                          [](const ReduceGrad&) { return Lane::Collective; },
                          [](const TiedGradReduce&) { return Lane::Collective; },
                          [](const GradNorm&) { return Lane::Collective; },
                          [](const Offload&) { return Lane::Copy; },
                          [](const Reload&) { return Lane::Copy; },
                      },
                      action);
}

void Recorder::span(const Action& action, Interval when, Bytes moved, Duration exposed) {
    record_.spans.push_back({record_.rank, record_.replica, lane_of(action), action,
                             instant_of(when.begin), instant_of(when.end), exposed, moved});
}

void Recorder::level(Clock::time_point at, const MemoryByClass& held) {
    const bool is_first = record_.memory.empty();
    for (std::size_t c = 0; c < kMemoryClasses; ++c) {
        if (!is_first && held[c] == last_[c]) continue;
        record_.memory.push_back(
            {instant_of(at), held[c], record_.rank, static_cast<MemoryClass>(c)});
    }
    last_ = held;
}

StepRecord Recorder::finish(MemoryPeak peak) && {
    record_.peak = std::move(peak);
    return std::move(record_);
}

Trace trace_of(std::vector<StepRecord> records) {
    Trace trace;
    Instant origin = Instant::max();
    std::map<Rank, const StepRecord*> fullest;
    for (const StepRecord& record : records) {
        for (const Span& span : record.spans) origin = std::min(origin, span.begin);
        for (const MemorySample& sample : record.memory) origin = std::min(origin, sample.at);
        const StepRecord*& most = fullest[record.rank];
        if (most == nullptr || total(record.peak.held) > total(most->peak.held)) most = &record;
    }
    const auto since_origin = [&](Instant at) { return Instant{at - origin}; };
    for (const auto& [rank, record] : fullest) {
        for (MemorySample sample : record->memory) {
            sample.at = since_origin(sample.at);
            trace.memory.push_back(sample);
        }
        trace.peaks.push_back(record->peak);
        trace.peaks.back().at = since_origin(std::max(record->peak.at, origin));
    }
    for (const StepRecord& record : records)
        for (Span span : record.spans) {
            span.begin = since_origin(span.begin);
            span.end = since_origin(span.end);
            trace.spans.push_back(span);
        }
    std::ranges::stable_sort(trace.spans, [](const Span& a, const Span& b) {
        return std::tie(a.begin, a.rank, a.lane) < std::tie(b.begin, b.rank, b.lane);
    });
    return trace;
}

}  // namespace debubble::exec
