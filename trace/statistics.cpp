#include "trace/statistics.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "trace/span_graph.h"

namespace debubble {
namespace {

struct Interval {
    Instant begin = Instant::max();
    Instant end = Instant::min();

    void cover(const Span& span) {
        begin = std::min(begin, span.begin);
        end = std::max(end, span.end);
    }
    Duration length() const { return end > begin ? end - begin : Duration{}; }
};

Between purpose_of(const Action& action) {
    if (std::holds_alternative<TiedGradReduce>(action)) return Between::Stages;
    const bool copy =
        std::holds_alternative<Offload>(action) || std::holds_alternative<Reload>(action);
    return copy ? Between::Host : Between::Replicas;
}

/// Cuts the step of one rank into computes, optimizer, exposed communication
/// and bubbles.
class RankAccount {
public:
    RankAccount(const SpanGraph& graph, const SpanGraph::Unit& unit, Interval step,
                Instant computes_end)
        : graph_(graph), unit_(unit), step_(step), computes_end_(computes_end) {
        sums_.rank = unit.rank;
        sums_.replica = unit.replica;
    }

    void run() {
        for (const std::uint32_t i : unit_.work)
            if (is_work(spans()[i].action)) own_.cover(spans()[i]);
        Instant free = step_.begin;
        for (const std::uint32_t i : unit_.work) {
            const Span& span = spans()[i];
            if (span.begin > free) gap_before(i, free);
            free = std::max(free, take(span, free));
        }
        const Duration exposed_before = sums_.exposed;
        close(free, step_.end);
        sums_.exposed_after = sums_.exposed - exposed_before;
        if (own_.length() > Duration{})
            sums_.span_bubble = 1 - seconds(work_) / seconds(own_.length());
    }

    const RankStatistics& sums() const { return sums_; }
    Duration work() const { return work_; }
    std::vector<Bubble> take_bubbles() { return std::move(bubbles_); }

private:
    const std::vector<Span>& spans() const { return graph_.trace().spans; }

    /// Adds the time of a span after `free`: no nanosecond is counted twice, even if the spans of a
    /// foreign trace overlap.
    Instant take(const Span& span, Instant free) {
        const Duration length = std::max(span.end - std::max(span.begin, free), Duration{});
        if (!is_work(span.action)) {
            sums_.optimizer += length;
            return span.end;
        }
        const Duration exposed = std::clamp(span.exposed, Duration{}, length);
        sums_.busy += length - exposed;
        sums_.exposed += exposed;
        work_ += length;
        return span.end;
    }

    /// The rank was free from `from` and continued with span `next`.
    void gap_before(std::size_t next, Instant from) {
        const Span& span = spans()[next];
        const Instant until = span.begin;
        if (from < own_.begin) return idle(from, until, BubbleCause::WarmUp, next);
        if (!is_work(span.action)) {
            if (until <= own_.end) return idle(from, until, BubbleCause::Optimizer, next);
            return close(from, until);
        }
        wait_for_inputs(next, from);
    }

    /// The time after the last compute: first other ranks still compute, then no rank does.
    void close(Instant from, Instant until) {
        const Instant drained = std::clamp(computes_end_, from, std::max(from, until));
        const bool computed = own_.end > own_.begin;
        idle(from, drained, computed ? BubbleCause::CoolDown : BubbleCause::WarmUp, spans().size());
        idle(drained, until, BubbleCause::Optimizer, spans().size());
    }

    /// The time between two computes: first the other rank computes, then its message is in flight,
    /// then another action of this rank runs, then only the host is late.
    void wait_for_inputs(std::size_t next, Instant from) {
        const Instant until = spans()[next].begin;
        SpanGraph::Arrival last;
        Instant arrived = Instant::min();
        for (const SpanGraph::Arrival& arrival : graph_.arrivals_of(next)) {
            const Instant at = arrival.recv ? spans()[*arrival.recv].end : until;
            // Of a pair's two inputs, where the arrivals are unknown, the one made last.
            const auto made = [&](const SpanGraph::Arrival& a) {
                return a.producer ? spans()[*a.producer].end : Instant::min();
            };
            if (at > arrived || (at == arrived && made(arrival) > made(last))) {
                arrived = at;
                last = arrival;
            }
        }
        const auto up_to = [&](Instant at, BubbleCause cause, std::optional<std::size_t> span) {
            at = std::clamp(at, from, until);
            idle(from, at, cause, span.value_or(spans().size()));
            from = at;
        };
        if (last.producer)
            up_to(spans()[*last.producer].end, BubbleCause::OtherStage, last.producer);
        up_to(arrived, BubbleCause::Link, last.recv ? last.recv : last.producer);
        if (const auto send = graph_.send_ended_in(unit_, from, until))
            up_to(spans()[*send].end, BubbleCause::Link, send);
        if (const auto gather = graph_.gather_ended_in(unit_, from, until))
            up_to(spans()[*gather].end, BubbleCause::Collective, gather);
        up_to(until, BubbleCause::Launch, next);
    }

    /// Adds a bubble, except for the part that a collective or a copy of the rank fills, once all
    /// members of the collective have joined.
    void idle(Instant from, Instant until, BubbleCause cause, std::size_t waited_for) {
        for (; from < until; ++gather_) {
            while (gather_ < unit_.gather.size() && spans()[unit_.gather[gather_]].end <= from)
                ++gather_;
            if (gather_ == unit_.gather.size()) break;
            const Span& filler = spans()[unit_.gather[gather_]];
            const Instant joined = joined_at(unit_.gather[gather_]);
            if (joined >= until) break;
            bubble(from, joined, cause, waited_for);
            const Instant end = std::min(until, filler.end);
            const Duration exposed = std::max(end - std::max(from, joined), Duration{});
            sums_.exposed += exposed;
            sums_.exposed_between += exposed;
            sums_.exposed_between_by[purpose_of(filler.action)] += exposed;
            from = std::max(from, end);
            if (filler.end > until) break;  // it continues in the next gap
        }
        bubble(from, until, cause, waited_for);
    }

    /// The time at which the last member joined a collective, which all gaps before it need.
    Instant joined_at(std::uint32_t collective) {
        if (last_asked_ != collective) {
            last_asked_ = collective;
            joined_ = spans()[graph_.last_to_join(collective)].begin;
        }
        return joined_;
    }

    void bubble(Instant from, Instant until, BubbleCause cause, std::size_t waited_for) {
        if (until <= from) return;
        bubbles_.push_back({unit_.rank, from, until, cause, waited_for});
        sums_.idle += until - from;
        sums_.idle_by_cause[cause] += until - from;
    }

    const SpanGraph& graph_;
    const SpanGraph::Unit& unit_;
    Interval step_;
    Instant computes_end_;
    Interval own_;  ///< first compute start to last compute end of this rank
    std::size_t gather_ = 0;
    std::optional<std::uint32_t> last_asked_;  ///< a collective, and when all had joined it
    Instant joined_;
    Duration work_{};
    RankStatistics sums_;
    std::vector<Bubble> bubbles_;
};

/// The spans from the one that ends last back to one that did not wait, always to the predecessor
/// that ended last.
std::vector<std::size_t> critical_path(const SpanGraph& graph) {
    const std::vector<Span>& spans = graph.trace().spans;
    std::vector<std::size_t> path;
    if (spans.empty()) return path;
    std::vector<bool> seen(spans.size());
    std::optional<std::size_t> at = std::ranges::max_element(spans, {}, &Span::end) - spans.begin();
    while (at && !seen[*at]) {
        seen[*at] = true;
        path.push_back(*at);
        std::optional<std::size_t> latest;
        // A Recv ends with its Send; every other span begins when the span for which it waited has
        // ended.
        const bool recv = std::holds_alternative<Recv>(spans[*at].action);
        const Instant by = recv ? spans[*at].end : spans[*at].begin;
        for (const std::size_t p : graph.predecessors_of(*at))
            if (spans[p].end <= by && (!latest || spans[p].end > spans[*latest].end)) latest = p;
        at = latest;
    }
    std::ranges::reverse(path);
    return path;
}

}  // namespace

Statistics statistics(const Trace& trace, bool with_critical_path) {
    Statistics out;
    if (trace.spans.empty()) return out;
    Interval step;
    Interval computes;
    for (const Span& span : trace.spans) {
        step.cover(span);
        if (is_work(span.action)) computes.cover(span);
    }
    out.step = step.length();
    out.makespan = computes.length();

    const SpanGraph graph(trace);
    double work = 0;
    std::vector<std::vector<Bubble>> bubbles;
    std::vector<Duration> longest;
    for (const SpanGraph::Unit& unit : graph.units()) {
        RankAccount account(graph, unit, step, computes.end);
        account.run();
        const RankStatistics& sums = account.sums();
        work += seconds(account.work());
        out.span_bubble = std::max(out.span_bubble, sums.span_bubble);
        auto row = std::ranges::lower_bound(out.ranks, unit.rank, {}, &RankStatistics::rank);
        const auto index = row - out.ranks.begin();
        const bool known = row != out.ranks.end() && row->rank == unit.rank;
        if (!known) {
            out.ranks.insert(row, sums);
            bubbles.insert(bubbles.begin() + index, account.take_bubbles());
        } else if (row->idle > sums.idle) {
            *row = sums;
            bubbles[index] = account.take_bubbles();
        }
    }
    std::size_t count = 0;
    for (const auto& list : bubbles) count += list.size();
    out.bubbles.reserve(count);
    for (auto& list : bubbles) {
        out.bubbles.insert(out.bubbles.end(), list.begin(), list.end());
        list = {};  // a long trace has millions
    }
    if (out.makespan > Duration{})
        out.bubble = 1 - work / (static_cast<double>(graph.units().size()) * seconds(out.makespan));
    if (with_critical_path) out.critical_path = critical_path(graph);
    return out;
}

Duration work_of(const RankStatistics& rank) {
    return rank.busy + rank.exposed - rank.exposed_between + rank.optimizer;
}

Statistics in_steady_state(Statistics of_trace, Duration step_time) {
    constexpr std::array kFirstToGo{BubbleCause::Optimizer,  BubbleCause::CoolDown,
                                    BubbleCause::WarmUp,     BubbleCause::Launch,
                                    BubbleCause::OtherStage, BubbleCause::Link,
                                    BubbleCause::Collective, BubbleCause::UnevenLoad};
    static_assert(kFirstToGo.size() == kBubbleCauses);
    for (RankStatistics& rank : of_trace.ranks) {
        const auto idle = [&](BubbleCause cause) -> Duration& { return rank.idle_by_cause[cause]; };
        rank.exposed -= rank.exposed_after;
        rank.exposed_between -= rank.exposed_after;
        idle(BubbleCause::Optimizer) += std::exchange(rank.exposed_after, Duration{});
        Duration left = of_trace.step - step_time;
        const auto take_from = [&](Duration& part) {
            const Duration taken = std::clamp(left, Duration{}, part);
            left -= taken;
            part -= taken;
            return taken;
        };
        for (const BubbleCause cause : kFirstToGo) take_from(idle(cause));
        rank.exposed -= take_from(rank.exposed_between);
        if (left < Duration{})
            idle(BubbleCause::WarmUp) -= left;  // it waits longer than at the first step
        rank.idle = Duration{};
        for (const Duration part : rank.idle_by_cause) rank.idle += part;
    }
    of_trace.step = step_time;
    return of_trace;
}

Statistics with_time_between(Statistics of_trace, Duration step_time) {
    const Duration between = step_time - of_trace.step;
    for (RankStatistics& rank : of_trace.ranks) {
        rank.idle += between;
        rank.idle_by_cause[BubbleCause::Launch] += between;
    }
    of_trace.step = step_time;
    return of_trace;
}

IdleByCause idle_by_cause(const Statistics& statistics) {
    IdleByCause sums{};
    for (const RankStatistics& rank : statistics.ranks)
        for (std::size_t c = 0; c < kBubbleCauses; ++c) sums[c] += rank.idle_by_cause[c];
    return sums;
}

std::string_view name_of(BubbleCause cause) {
    constexpr ArrayBy<BubbleCause, std::string_view, kBubbleCauses> kNames{
        "warm-up",    "cool-down",         "stage",  "link",
        "collective", "optimizer barrier", "launch", "uneven load"};
    return kNames[cause];
}

std::string_view name_of(Lane lane) {
    constexpr ArrayBy<Lane, std::string_view, 5> kNames{"compute", "send", "recv", "collective",
                                                        "copy"};
    return kNames[lane];
}

std::string_view wording_of(BubbleCause cause) {
    constexpr ArrayBy<BubbleCause, std::string_view, kBubbleCauses> kWords{
        "warm-up",           "cool-down",         "waits for a stage", "waits for a link",
        "waits for a group", "optimizer barrier", "host late",         "uneven load"};
    return kWords[cause];
}

}  // namespace debubble
