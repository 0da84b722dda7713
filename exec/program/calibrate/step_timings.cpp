#include "exec/program/calibrate/step_timings.h"

#include <algorithm>

#include "schedule/dependencies.h"

namespace debubble::exec {

namespace {

std::vector<const Span*> spans_of(const StepRecord& record, Lane lane) {
    std::vector<const Span*> spans;
    for (const Span& span : record.spans)
        if (span.lane == lane) spans.push_back(&span);
    std::ranges::sort(spans, {}, [](const Span* span) { return span->begin; });
    return spans;
}

/// The time of collectives, except the norm's own, between two instants. They end one after the
/// other.
Duration collective_time(const StepRecord& record, Instant from, Instant to) {
    Duration sum{};
    Instant done = from;
    for (const Span* span : spans_of(record, Lane::Collective)) {
        if (std::holds_alternative<GradNorm>(span->action)) continue;
        const Instant begin = std::max(span->begin, done), end = std::min(span->end, to);
        if (end <= begin) continue;
        sum += end - begin;
        done = end;
    }
    return sum;
}

bool takes_norm(const StepRecord& record) {
    return std::ranges::any_of(record.spans, [](const Span& span) {
        return std::holds_alternative<GradNorm>(span.action);
    });
}

}  // namespace

StepTimings timings_of(const StepRecord& record, Instant begin, Instant end, int stage_count) {
    StepTimings out;
    const Span* before = nullptr;
    const Span* last_pass = nullptr;
    for (const Span* span : spans_of(record, Lane::Compute)) {
        const bool is_overlap = std::holds_alternative<Overlap>(span->action);
        if (is_overlap || std::holds_alternative<Recompute>(span->action) ||
            std::holds_alternative<Compute>(span->action)) {
            out.passes += is_overlap ? 2 : 1;
            out.in_passes += seconds(span->length());
            last_pass = span;
        }
        if (const auto* pass = std::get_if<Compute>(&span->action)) {
            const bool waits = neighbour_input_of(*pass, stage_count).has_value();
            if (!waits && before != nullptr) out.gaps.push_back(seconds(span->begin - before->end));
            if (!waits && before == nullptr) out.before_first = seconds(span->begin - begin);
        }
        if (std::holds_alternative<OptimizerStep>(span->action)) {
            out.optimizer = seconds(span->length());
            if (last_pass != nullptr && takes_norm(record))
                out.norm = seconds(span->begin - last_pass->end -
                                   collective_time(record, last_pass->end, span->begin));
        }
        before = span;
    }
    if (before != nullptr) out.after_last = seconds(end - before->end);
    return out;
}

}  // namespace debubble::exec
