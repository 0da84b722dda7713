#include "exec/program/calibrate/timed_step.h"

#include <algorithm>

#include "schedule/dependencies.h"
#include "trace/core_share.h"

namespace debubble::exec {

namespace {

std::vector<const Span*> spans_of(const StepRecord& record, Lane lane) {
    std::vector<const Span*> spans;
    for (const Span& span : record.spans)
        if (span.lane == lane) spans.push_back(&span);
    std::ranges::sort(spans, {}, [](const Span* span) { return span->begin; });
    return spans;
}

/// Seconds of the norm before ranks add it up, where the step takes one.
std::optional<double> norm_alone(const StepRecord& record) {
    for (const Span& span : record.spans)
        if (std::holds_alternative<GradNorm>(span.action))
            return seconds(std::max(Duration{}, span.length() - record.norm_reduction));
    return std::nullopt;
}

}  // namespace

StepTimings timings_of(const StepRecord& record, Instant begin, Instant end, int stage_count) {
    StepTimings out;
    const Span* before = nullptr;
    for (const Span* span : spans_of(record, Lane::Compute)) {
        const bool is_overlap = std::holds_alternative<Overlap>(span->action);
        if (is_overlap || std::holds_alternative<Recompute>(span->action) ||
            std::holds_alternative<Compute>(span->action)) {
            out.passes += is_overlap ? 2 : 1;
            out.in_passes += seconds(span->length());
        }
        if (const auto* pass = std::get_if<Compute>(&span->action)) {
            const bool waits = neighbour_input_of(*pass, stage_count).has_value();
            if (!waits && before != nullptr) out.gaps.push_back(seconds(span->begin - before->end));
            if (!waits && before == nullptr) out.before_first = seconds(span->begin - begin);
        }
        if (std::holds_alternative<OptimizerStep>(span->action))
            out.optimizer = seconds(span->length());
        before = span;
    }
    out.norm = norm_alone(record);
    out.core_share = core_share(record.spans);
    if (before != nullptr) out.after_last = seconds(end - before->end);
    return out;
}

}  // namespace debubble::exec
