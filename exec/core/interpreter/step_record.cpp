#include "exec/core/interpreter/step_record.h"

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

#include <fmt/format.h>

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

Moment Recorder::now(DeviceLane lane) {
    if (lanes_ == nullptr) return {Clock::now()};
    return {{}, lanes_->mark(lane)};
}

namespace {

bool is_pass(const Action& action) {
    return lane_of(action) == Lane::Compute && !std::holds_alternative<OptimizerStep>(action);
}

}  // namespace

void Recorder::span(const Action& action, const Moment& begin, const Moment& end, Bytes moved,
                    const PassOnHost& on_host) {
    if (begin.mark) spans_.push_back({record_.spans.size(), *begin.mark, *end.mark});
    const bool host_computes = lanes_ == nullptr && is_pass(action);
    record_.spans.push_back({record_.rank, record_.replica, lane_of(action), action,
                             instant_of(begin.at), instant_of(end.at), on_host.exposed, moved,
                             host_computes ? on_host.on_core : Duration{}});
}

/// A host runs ahead of its device where there was nothing to do: the action happens between two
/// passes.
void Recorder::span(const Action& action, const Interval& when, Bytes moved) {
    if (when.marks) return span(action, {{}, when.marks->begin}, {{}, when.marks->end}, moved);
    if (lanes_ == nullptr || when.begin != when.end)
        return span(action, {when.begin}, {when.end}, moved);
    const Moment here = now();
    span(action, here, here, moved);
}

void Recorder::collective(const Action& action, const Moment& came_up, int number,
                          const Interval& when, Bytes moved) {
    if (std::holds_alternative<GradNorm>(action))
        norm(came_up, when, moved);
    else
        span(action, when, moved);
    collectives_.push_back({number, record_.spans.size() - 1, came_up});
}

void Recorder::norm(const Moment& came_up, const Interval& when, Bytes moved) {
    record_.norm_reduction = Duration{when.end - when.begin};
    if (when.marks)
        span(GradNorm{}, came_up, {{}, when.marks->end}, moved);
    else
        span(GradNorm{}, came_up, lanes_ == nullptr ? Moment{when.end} : now(), moved);
}

void Recorder::add_part(Lane lane, const Compute& pass, PairStep step, std::optional<int> layer,
                        const Moment& begin, const Moment& end) {
    if (begin.mark) pair_parts_.push_back({record_.pair_parts.size(), *begin.mark, *end.mark});
    record_.pair_parts.push_back({record_.rank, record_.replica, lane, step, pass, layer,
                                  instant_of(begin.at), instant_of(end.at)});
}

void Recorder::pair_part(const Compute& pass, PairStep step, std::optional<int> layer,
                         const Moment& begin, const Moment& end) {
    add_part(Lane::Compute, pass, step, layer, begin, end);
}

void Recorder::pair_part(const Compute& pass, PairStep step, std::optional<int> layer,
                         const Interval& exchange) {
    if (exchange.marks)
        add_part(Lane::Collective, pass, step, layer, {{}, exchange.marks->begin},
                 {{}, exchange.marks->end});
    else if (lanes_ == nullptr)
        add_part(Lane::Collective, pass, step, layer, {exchange.begin}, {exchange.end});
}

void Recorder::put_in_order() {
    std::ranges::sort(collectives_, {}, &Collective::number);
    Instant reduced{};
    for (const Collective& collective : collectives_) {
        Span& span = record_.spans[collective.index];
        span.begin = std::max(span.begin, time_of(collective.came_up));
        if (!std::holds_alternative<Unshard>(span.action))
            reduced = span.begin = std::max(span.begin, reduced);
        span.end = std::max(span.end, span.begin);
    }
    // If two actions start at once, the first in the list is the first in the record.
    std::vector<std::size_t> places;
    std::vector<Span> spans;
    for (const Collective& collective : collectives_) {
        places.push_back(collective.index);
        spans.push_back(record_.spans[collective.index]);
    }
    std::ranges::sort(places);
    for (std::size_t i = 0; i < places.size(); ++i) record_.spans[places[i]] = std::move(spans[i]);
}

void Recorder::level(const Moment& at, const MemoryByClass& held) {
    const bool is_first = record_.memory.empty();
    for (std::size_t c = 0; c < kMemoryClasses; ++c) {
        if (!is_first && held[c] == last_[c]) continue;
        if (at.mark) samples_.push_back({record_.memory.size(), *at.mark, *at.mark});
        record_.memory.push_back(
            {instant_of(at.at), held[c], record_.rank, static_cast<MemoryClass>(c)});
    }
    last_ = held;
}

StepRecord Recorder::finish(MemoryPeak peak) && {
    record_.peak = std::move(peak);
    if (lanes_ == nullptr) {
        put_in_order();
        return std::move(record_);
    }
    record_.clock_error = lanes_->clock_error();
    for (const Pending& sample : samples_) record_.memory[sample.index].at = time_of(sample.begin);
    for (const Pending& part : pair_parts_) {
        record_.pair_parts[part.index].begin = time_of(part.begin);
        record_.pair_parts[part.index].end = time_of(part.end);
    }
    const std::vector<MarkedInterval> holds = lanes_->holds();
    for (const Pending& pending : spans_) {
        Span& span = record_.spans[pending.index];
        span.begin = time_of(pending.begin);
        span.end = time_of(pending.end);
        if (to_text(span.action) == record_.peak.action) record_.peak.at = span.begin;
        if (!is_pass(span.action)) continue;
        for (const MarkedInterval& hold : holds)  // marks count in the order of the thread
            if (pending.begin.number < hold.begin.number && hold.end.number < pending.end.number)
                span.exposed += time_of(hold.end) - time_of(hold.begin);
        span.exposed = std::min(span.exposed, span.length());
    }
    put_in_order();
    return std::move(record_);
}

std::string Recorder::progress() {
    constexpr const char* kNames[] = {"compute", "send", "receive", "collective", "copy"};
    std::string sentence;
    for (const Lane lane : {Lane::Compute, Lane::Send, Lane::Recv, Lane::Collective, Lane::Copy}) {
        std::string last = "nothing", next;
        for (const Pending& pending : spans_) {
            const Span& span = record_.spans[pending.index];
            if (span.lane != lane) continue;
            const bool is_done = lanes_->reached(pending.end);
            if (is_done) last = to_text(span.action);
            if (!is_done && next.empty()) next = to_text(span.action);
        }
        if (next.empty()) continue;
        sentence +=
            fmt::format("{}{}: {} is not done, {} was the last", sentence.empty() ? "" : "; ",
                        kNames[static_cast<int>(lane)], next, last);
    }
    return sentence.empty() ? "all recorded work is done" : sentence;
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
    for (const StepRecord& record : records)
        for (PairPart part : record.pair_parts) {
            part.begin = since_origin(part.begin);
            part.end = since_origin(part.end);
            trace.pair_parts.push_back(part);
        }
    std::ranges::stable_sort(trace.pair_parts, {},
                             [](const PairPart& part) { return std::pair(part.begin, part.rank); });
    std::ranges::stable_sort(trace.spans, [](const Span& a, const Span& b) {
        return std::tie(a.begin, a.rank, a.lane) < std::tie(b.begin, b.rank, b.lane);
    });
    return trace;
}

}  // namespace debubble::exec
