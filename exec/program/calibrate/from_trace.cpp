#include "exec/program/calibrate/from_trace.h"

#include <algorithm>
#include <cmath>
#include <map>

#include <fmt/format.h>

#include "base/diagnostic.h"
#include "exec/program/calibrate/pass_times.h"
#include "exec/program/calibrate/statistics.h"
#include "scenarios/measured.h"
#include "sim/predict.h"
#include "trace/net_length.h"
#include "trace/statistics.h"
#include "trace/steps.h"

namespace debubble::exec {
namespace {

using models::Collective;
using scenarios::Measured;
using scenarios::MeasuredCollective;

/// Net lengths and bytes of the actions of one kind.
struct KindTimes {
    std::vector<double> lengths;  ///< seconds
    double bytes = 0;
    std::size_t count() const { return lengths.size(); }
    double middle() const { return lengths.empty() ? 0 : median(lengths); }
    double mean_bytes() const { return lengths.empty() ? 0 : bytes / static_cast<double>(count()); }
};
using ByKind = std::map<std::size_t, KindTimes>;  ///< by the index of the Action's alternative

ByKind times_of(const Trace& step) {
    const SpanGraph graph(step);
    const std::vector<Duration> lengths = net_lengths(graph);
    ByKind out;
    for (std::size_t i = 0; i < step.spans.size(); ++i) {
        KindTimes& kind = out[step.spans[i].action.index()];
        kind.lengths.push_back(seconds(lengths[i]));
        kind.bytes += static_cast<double>(step.spans[i].bytes.count);
    }
    return out;
}

template <class Alternative>
KindTimes of(const ByKind& kinds) {
    const auto found = kinds.find(Action(Alternative{}).index());
    return found == kinds.end() ? KindTimes{} : found->second;
}

Duration step_time_of(const Trace& step) {
    return step.header.step_time > Duration{} ? step.header.step_time : statistics(step).step;
}

class Calibration {
public:
    Calibration(scenarios::Scenario scenario, const Trace& executed, const std::string& name)
        : scenario_(std::move(scenario)),
          plan_(sim::priced_plan(scenario_)),
          step_(median_step(executed)),
          executed_(executed),
          measured_times_(times_of(executed)) {
        scenario_.cluster.name = name;
        scenario_.cluster.source =
            fmt::format("by a trace of {} ({} steps), of {}", scenario_.name, steps_in(executed),
                        executed.header.source.empty() ? "a run" : executed.header.source);
    }

    FromTrace run() {
        operators();
        launches();
        const sim::PredictionWithTrace first = predict();
        messages(first);
        collectives(first);
        optimizer(first);
        rest_of_step();
        const sim::PredictionWithTrace last = predict();
        FromTrace out;
        out.traced_step_s = seconds(step_time_of(step_));
        out.predicted_step_s = last.prediction.step_time_s;
        out.cluster = scenario_.cluster;
        out.notes = notes_;
        return out;
    }

private:
    sim::PredictionWithTrace predict() {
        scenario_.cluster.measured = std::make_shared<Measured>(measured_);
        return sim::predict(scenario_, {.play_allocator = false, .plan = &plan_});
    }

    void origin(const std::string& key, const std::string& source) {
        scenario_.cluster.origins[key] = {scenarios::Provenance::Measured, source};
    }

    void operators() {
        const PassEquations equations = pass_equations(scenario_, plan_, executed_);
        double spread = 0;
        std::size_t samples = 0;
        for (const PassTimes& pass : equations.passes) {
            const double middle = median(pass.seconds);
            if (middle > 0) spread = std::max(spread, deviation(pass.seconds) / middle);
            samples += pass.seconds.size();
        }
        for (const auto& [key, time] : solve(equations)) {
            const Duration length = from_seconds(time);
            measured_.operators[key] = {
                length, from_seconds(spread * time),
                static_cast<int>(std::min<std::size_t>(samples, 1'000'000))};
        }
        measured_.with = fmt::format(
            "{} passes of a trace, each {:.1f} % from the median of its kind at most at the "
            "median; "
            "their times are shared among operators by rates",
            samples, 100 * spread);
        measured_.plans = {scenario_.name};
    }

    /// Between two passes with all inputs there the host is late: a pass takes that much longer.
    void launches() {
        const Statistics s = statistics(step_);
        Duration late{};
        for (const RankStatistics& rank : s.ranks)
            late += rank.idle_by_cause[static_cast<std::size_t>(BubbleCause::Launch)];
        const auto passes = std::ranges::count_if(
            step_.spans, [](const Span& span) { return is_work(span.action); });
        if (passes > 0) measured_.pass_overhead = late / passes;
    }

    /// One size is known: the latency stays, unless it alone is longer than the message.
    void messages(const sim::PredictionWithTrace& first) {
        const double time = of<Recv>(measured_times_).middle();
        const double bytes = of<Recv>(times_of(median_step(first.trace))).mean_bytes();
        if (!(time > 0) || !(bytes > 0)) return;
        scenarios::Cluster& cluster = scenario_.cluster;
        const std::string source = fmt::format("{} messages of {:.0f} bytes in a trace",
                                               of<Recv>(measured_times_).count(), bytes);
        constexpr double kMostLatency = 0.5;  // of the message's time
        if (scenario_.gpus <= cluster.gpus_per_node) {
            cluster.node_link.latency =
                std::min(cluster.node_link.latency, from_seconds(kMostLatency * time));
            cluster.node_link.base_latency = Duration{};
            cluster.node_link.half_bandwidth_size = Bytes{};
            cluster.node_link.bandwidth = {bytes / (time - seconds(cluster.node_link.latency))};
            origin("node_link.bandwidth", source);
            origin("node_link.latency", source);
        } else {
            notes_.emplace_back(
                "the job spans several nodes: rates of links stay those of its cluster");
        }
    }

    void collectives(const sim::PredictionWithTrace& first) {
        const ByKind predicted = times_of(median_step(first.trace));
        const auto put = [&](Collective::Kind kind, int ranks, const KindTimes& measured,
                             double bytes) {
            if (ranks < 2 || measured.count() == 0 || ranks > scenario_.cluster.gpus_per_node)
                return;
            // The smallest gives the latency, the largest the bandwidth.
            MeasuredCollective& cost = measured_.collectives[{kind, ranks}];
            constexpr double kScalar = 4096;
            if (bytes <= kScalar) {
                cost.latency = from_seconds(measured.middle());
                if (!(cost.bandwidth.value > 0))
                    cost.bandwidth = scenario_.cluster.node_link.bandwidth;
                return;
            }
            const double rest =
                std::max(measured.middle() - seconds(cost.latency), 0.1 * measured.middle());
            cost.bandwidth = {bytes / rest};
        };
        const int replicas = scenario_.parallel.data * scenario_.parallel.context;
        put(Collective::Kind::AllReduce, scenario_.gpus, of<GradNorm>(measured_times_), 8);
        put(Collective::Kind::AllReduce, 2, of<TiedGradReduce>(measured_times_),
            of<TiedGradReduce>(predicted).mean_bytes());
        put(scenario_.parallel.zero_stage == 0 ? Collective::Kind::AllReduce
                                               : Collective::Kind::ReduceScatter,
            replicas, of<ReduceGrad>(measured_times_), of<ReduceGrad>(predicted).mean_bytes());
        put(Collective::Kind::AllGather, replicas, of<Unshard>(measured_times_),
            of<Unshard>(predicted).mean_bytes());
    }

    void optimizer(const sim::PredictionWithTrace&) {
        const KindTimes measured = of<OptimizerStep>(measured_times_);
        if (measured.count() == 0) return;
        constexpr double kTried = 1e-9;
        measured_.optimizer_seconds_per_element = kTried;
        const double tried = of<OptimizerStep>(times_of(median_step(predict().trace))).middle();
        if (tried > 0) measured_.optimizer_seconds_per_element = kTried * measured.middle() / tried;
    }

    /// What no action accounts for: the time from a step's last action to the next one's first, and
    /// waits at its end.
    void rest_of_step() {
        shorten_passes();
        constexpr int kAdjustments = 6;
        for (int round = 0; round < kAdjustments; ++round) {
            const double rest = seconds(step_time_of(step_)) - predict().prediction.step_time_s;
            measured_.step_overhead =
                std::max(Duration{}, measured_.step_overhead + from_seconds(rest));
        }
    }

    /// Where the passes on the critical path are shorter than the mean of their kind (those at both
    /// ends of a step have a shared machine to themselves), their mean gives too long a step: all
    /// are shortened alike, by kMostShortened at most.
    void shorten_passes() {
        constexpr double kMostShortened = 0.1;
        constexpr int kShortenings = 3;
        double factor = 1;
        const auto original = measured_.operators;
        const double target = seconds(step_time_of(step_));
        for (int round = 0; round < kShortenings; ++round) {
            const sim::Prediction found = predict().prediction;
            const double over = found.step_time_s - target;
            if (over <= 0 || !(found.makespan_s > 0)) break;
            factor = std::max(1 - kMostShortened, factor * (1 - over / found.makespan_s));
            for (auto& [key, time] : measured_.operators)
                time.median = from_seconds(factor * seconds(original.at(key).median));
        }
        if (factor == 1) return;
        measured_.with += fmt::format(
            "; all are {:.1f} % shorter than their mean, by the step's length", 100 * (1 - factor));
        notes_.push_back(fmt::format(
            "passes on the critical path are shorter than the mean: all were shortened by {:.1f} %",
            100 * (1 - factor)));
    }

    scenarios::Scenario scenario_;
    scenarios::Plan plan_;
    Trace step_;
    const Trace& executed_;
    ByKind measured_times_;
    Measured measured_;
    std::vector<std::string> notes_;
};

}  // namespace

scenarios::Plan plan_of(const scenarios::Scenario& scenario) {
    return sim::priced_plan(scenario);
}

FromTrace cluster_from_trace(const scenarios::Scenario& scenario, const Trace& executed,
                             const std::string& name) {
    if (executed.spans.empty())
        throw InputError("no passes were found in the trace, so that it calibrates nothing");
    return Calibration(scenario, executed, name).run();
}

}  // namespace debubble::exec
