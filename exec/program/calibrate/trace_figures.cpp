#include "exec/program/calibrate/trace_figures.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "exec/program/calibrate/statistics.h"
#include "trace/span_graph.h"
#include "trace/steps.h"

namespace debubble::exec {
namespace {

double mean_of(const std::vector<double>& values) {
    if (values.empty()) return 0;
    return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

double middle_of(const std::vector<double>& values) {
    return values.empty() ? 0 : std::max(0.0, median(values));
}

struct StepExtent {
    Instant begin = Instant::max();
    Instant end = Instant::min();
};

struct StepsOfTrace {
    std::vector<Trace> steps;
    std::vector<StepExtent> extents;
};

StepsOfTrace apart(const Trace& trace) {
    StepsOfTrace out;
    const int count = std::max(1, steps_in(trace));
    out.steps.resize(count);
    out.extents.resize(out.steps.size());
    const std::vector<int> step = step_of_spans(trace, count);
    for (std::size_t i = 0; i < trace.spans.size(); ++i) {
        const Span& span = trace.spans[i];
        const int own = step[i];
        out.steps[own].spans.push_back(span);
        out.extents[own].begin = std::min(out.extents[own].begin, span.begin);
        out.extents[own].end = std::max(out.extents[own].end, span.end);
    }
    for (Trace& own : out.steps) own.header = trace.header;
    return out;
}

/// Collects the times of one step.
class StepTimes {
public:
    explicit StepTimes(const Trace& step) : spans_(step.spans), graph_(step) {}

    void add_to(std::vector<double>& before_pass, std::vector<double>& before_send) const {
        for (std::size_t i = 0; i < spans_.size(); ++i) {
            if (is_work(spans_[i].action)) {
                if (const auto ready = ready_for_pass(i))
                    before_pass.push_back(std::max(0.0, seconds(spans_[i].begin - *ready)));
            } else if (std::holds_alternative<Send>(spans_[i].action)) {
                if (const auto producer = graph_.producer_of_send(i))
                    before_send.push_back(seconds(spans_[i].begin - spans_[*producer].end));
            }
        }
    }

    /// Messages during which their sender computes, and all.
    std::pair<std::size_t, std::size_t> beside_computes() const {
        std::size_t beside = 0;
        std::size_t all = 0;
        for (const SpanGraph::Unit& unit : graph_.units())
            for (const std::uint32_t send : unit.sends) {
                ++all;
                const Span& message = spans_[send];
                beside += std::ranges::any_of(unit.work, [&](std::uint32_t work) {
                    return spans_[work].begin < message.end && spans_[work].end > message.begin;
                });
            }
        return {beside, all};
    }

private:
    /// When all had ended that a pass waits for; nothing for the first one of a rank.
    std::optional<Instant> ready_for_pass(std::size_t pass) const {
        std::optional<Instant> ready;
        const auto later = [&](std::size_t other) {
            if (spans_[other].end <= spans_[pass].begin)
                ready = std::max(ready.value_or(Instant::min()), spans_[other].end);
        };
        for (const std::size_t other : graph_.predecessors_of(pass)) later(other);
        if (!ready) return ready;
        if (const auto sent =
                graph_.send_ended_in(graph_.unit_of(pass), *ready, spans_[pass].begin))
            later(*sent);
        return ready;
    }

    const std::vector<Span>& spans_;
    SpanGraph graph_;
};

}  // namespace

double KindTimes::mean() const {
    return mean_of(lengths);
}

double KindTimes::mean_bytes() const {
    return lengths.empty() ? 0 : bytes / static_cast<double>(lengths.size());
}

KindsOfTrace kind_times(const std::vector<Trace>& steps) {
    KindsOfTrace out;
    for (const Trace& step : steps) {
        const SpanGraph graph(step);
        const std::vector<Duration> lengths = net_lengths(graph);
        for (std::size_t i = 0; i < step.spans.size(); ++i) {
            KindTimes& kind = out[step.spans[i].action.index()];
            kind.lengths.push_back(seconds(lengths[i]));
            kind.bytes += static_cast<double>(step.spans[i].bytes.count);
        }
    }
    return out;
}

std::vector<Trace> typical_steps(const Trace& trace) {
    StepsOfTrace all = apart(trace);
    const std::size_t count = all.steps.size();
    std::vector<std::size_t> by_length(count);
    std::iota(by_length.begin(), by_length.end(), std::size_t{0});
    std::ranges::stable_sort(
        by_length, {}, [&](std::size_t k) { return all.extents[k].end - all.extents[k].begin; });
    const std::size_t quarter = count / 4;
    std::vector<Trace> out;
    for (std::size_t k = quarter; k < count - quarter; ++k)
        out.push_back(std::move(all.steps[by_length[k]]));
    return out;
}

HostTimes host_times(const Trace& trace, const std::vector<Trace>& steps) {
    std::vector<double> before_pass;
    std::vector<double> before_send;
    std::size_t beside = 0;
    std::size_t sends = 0;
    for (const Trace& step : steps) {
        const StepTimes times(step);
        times.add_to(before_pass, before_send);
        const auto [with, all] = times.beside_computes();
        beside += with;
        sends += all;
    }
    HostTimes out;
    out.before_pass = mean_of(before_pass);
    out.before_send = middle_of(before_send);
    if (sends > 0)
        out.sends_beside_computes = static_cast<double>(beside) / static_cast<double>(sends);
    const StepsOfTrace all = apart(trace);
    std::vector<double> between;
    for (std::size_t k = 1; k < all.extents.size(); ++k)
        between.push_back(seconds(all.extents[k].begin - all.extents[k - 1].end));
    if (all.extents.size() == 1) {
        const Duration rest = trace.header.step_time.value_or(Duration{}) -
                              (all.extents[0].end - all.extents[0].begin);
        between.push_back(seconds(rest));
    }
    out.between_steps = middle_of(between);
    return out;
}

}  // namespace debubble::exec
