#include "trace/compare.h"

#include <algorithm>
#include <cstdlib>
#include <map>

#include <fmt/format.h>

#include "trace/span_graph.h"
#include "trace/steps.h"

namespace debubble {
namespace {

Duration scaled(Duration d, double factor) {
    return Duration{std::llround(static_cast<double>(d.count()) * factor)};
}

/// One step of one of the two traces.
class Side {
public:
    explicit Side(const Trace& trace)
        : trace_(median_step(trace)), graph_(trace_), statistics_(statistics(trace_)) {
        step_time_ = trace_.header.step_time.value_or(statistics_.step);
        // True if an action of a step overlaps the next step: the steps overlap.
        const bool overlapping = std::ranges::any_of(
            statistics_.ranks,
            [](const RankStatistics& rank) { return rank.exposed_after > Duration{}; });
        if (overlapping)
            statistics_ = in_steady_state(std::move(statistics_), step_time_);
        else if (step_time_ > statistics_.step)
            statistics_ = with_time_between(std::move(statistics_), step_time_);
    }

    StepFigures step() const {
        StepFigures out{step_time_, statistics_.makespan, statistics_.bubble,
                        statistics_.span_bubble, idle_by_cause(statistics_)};
        Duration in_trace{};
        Duration in_step{};
        for (const RankStatistics& rank : statistics_.ranks) {
            in_trace += rank.idle;
            in_step += idle_of(rank);
        }
        if (in_trace > Duration{})
            for (Duration& idle : out.idle_by_cause)
                idle = scaled(idle, seconds(in_step) / seconds(in_trace));
        return out;
    }

    const std::vector<RankStatistics>& ranks() const { return statistics_.ranks; }

    RankFigures figures_of(const RankStatistics& rank) const {
        RankFigures out{
            rank.replica, rank.busy, rank.exposed, rank.optimizer, idle_of(rank), 1, {}};
        for (const RankStatistics& other : statistics_.ranks)
            out.place += std::pair(-other.busy, other.rank) < std::pair(-rank.busy, rank.rank);
        const std::size_t index = rank.rank.index;
        if (index < trace_.peaks.size()) out.peak = trace_.peaks[index].held;
        return out;
    }

    struct Timed {
        Rank rank;
        Action action;
        int occurrence = 0;
        Duration length{};
        auto key() const { return std::tie(rank, action, occurrence); }
    };

    /// Every action of the replicas in ranks(), sorted by key.
    std::vector<Timed> actions() const {
        const std::vector<Duration> lengths = net_lengths(graph_);
        std::map<Rank, std::int32_t> replica;
        for (const RankStatistics& rank : statistics_.ranks) replica[rank.rank] = rank.replica;
        std::vector<Timed> out;
        for (std::size_t i = 0; i < trace_.spans.size(); ++i) {
            const Span& span = trace_.spans[i];
            if (replica[span.rank] == span.replica)
                out.push_back({span.rank, span.action, 0, lengths[i]});
        }
        const auto what = [](const Timed& t) { return std::tie(t.rank, t.action); };
        std::ranges::stable_sort(out, {}, what);
        for (std::size_t i = 1; i < out.size(); ++i)
            if (what(out[i]) == what(out[i - 1])) out[i].occurrence = out[i - 1].occurrence + 1;
        return out;
    }

private:
    Duration idle_of(const RankStatistics& rank) const {
        return step_time_ - rank.busy - rank.exposed - rank.optimizer;
    }

    Trace trace_;
    SpanGraph graph_;
    Statistics statistics_;
    Duration step_time_{};
};

/// Walks through both sides in parallel and sums the actions in both.
void compare_actions(const std::vector<Side::Timed>& simulated,
                     const std::vector<Side::Timed>& executed, Comparison& out) {
    ErrorSums sums;
    for (auto s = simulated.begin(), e = executed.begin();
         s != simulated.end() || e != executed.end();) {
        if (e == executed.end() || (s != simulated.end() && s->key() < e->key())) {
            ++out.unmatched.simulated;
            ++s;
            continue;
        }
        if (s == simulated.end() || e->key() < s->key()) {
            ++out.unmatched.executed;
            ++e;
            continue;
        }
        const Compared<Duration> length{s->length, e->length};
        sums.add(s->action, length);
        if (length.simulated != length.executed) out.worst.push_back({s->rank, s->action, length});
        ++s;
        ++e;
    }
    out.kinds = sums.kinds();
    out.stages = sums.stages();
    const auto most = std::min(out.worst.size(), kMostWorst);
    std::ranges::stable_sort(out.worst, std::ranges::greater{},
                             [](const ActionDifference& d) { return apart(d.length); });
    out.worst.resize(most);
}

std::string short_hash(const std::string& hash) {
    return hash.empty() ? "without a hash" : hash.substr(0, 12);
}

}  // namespace

std::optional<std::string> why_not_comparable(const Trace& simulated, const Trace& executed) {
    const std::string& a = simulated.header.program_hash;
    const std::string& b = executed.header.program_hash;
    if (a != b || a.empty())
        return fmt::format("the traces are of different programs: {} ({}) and {} ({})",
                           short_hash(a), simulated.header.scenario, short_hash(b),
                           executed.header.scenario);
    if (simulated.spans.empty() || executed.spans.empty())
        return fmt::format("the {} trace holds no action",
                           simulated.spans.empty() ? "first" : "second");
    return std::nullopt;
}

Comparison compare(const Trace& simulated, const Trace& executed) {
    const Side a(simulated);
    const Side b(executed);
    Comparison out;
    out.step = {a.step(), b.step()};
    for (const RankStatistics& of_a : a.ranks()) {
        const auto of_b = std::ranges::lower_bound(b.ranks(), of_a.rank, {}, &RankStatistics::rank);
        if (of_b != b.ranks().end() && of_b->rank == of_a.rank)
            out.ranks.push_back({of_a.rank, {a.figures_of(of_a), b.figures_of(*of_b)}});
    }
    compare_actions(a.actions(), b.actions(), out);
    return out;
}

}  // namespace debubble
