#include "exec/program/calibrate/from_trace.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <set>

#include <fmt/format.h>

#include "base/diagnostic.h"
#include "exec/program/calibrate/pass_times.h"
#include "exec/program/calibrate/statistics.h"
#include "exec/program/calibrate/trace_figures.h"
#include "scenarios/cluster/measured.h"
#include "sim/engine/replay_measured.h"
#include "sim/predict.h"
#include "text/wording.h"
#include "trace/core_share.h"
#include "trace/span_graph.h"
#include "trace/statistics.h"
#include "trace/steps.h"

namespace debubble::exec {
namespace {

using models::Collective;
using scenarios::Measured;
using scenarios::MeasuredCollective;

/// The mean time of the typical steps with what lies between two of them.
double step_seconds(const std::vector<Trace>& typical, const HostTimes& host) {
    double sum = 0;
    for (const Trace& step : typical) sum += seconds(statistics(step, false).step);
    return sum / static_cast<double>(typical.size()) + host.between_steps;
}

KindsOfTrace predicted_times(const sim::PredictionWithTrace& prediction) {
    return kind_times({median_step(prediction.trace)});
}

/// The share of the rank that was worst off, if others used the cores.
std::optional<double> disturbed_share(const Trace& executed) {
    std::optional<double> least;
    for (const CoreShare& rank : core_shares(executed))
        if (is_disturbed(rank.share, executed.header.cores_per_thread))
            least = std::min(least.value_or(1), rank.share);
    return least;
}

class Calibration {
public:
    Calibration(scenarios::Scenario scenario, const Trace& executed, const std::string& name)
        : scenario_(sim::with_choices_made(std::move(scenario))),
          plan_(sim::priced_plan(scenario_)),
          typical_(typical_steps(executed)),
          host_(host_times(executed, typical_)),
          measured_times_(kind_times(typical_)),
          own_(executed.header.source == TraceSource::Executed || scenario_.cluster.gpu.threads) {
        measured_.core_share = disturbed_share(executed);
        scenario_.cluster.name = name;
        scenario_.cluster.source =
            fmt::format("by a trace of {} ({} steps), of {}", scenario_.name, steps_in(executed),
                        executed.header.source ? executed.header.source_name() : "a run");
    }

    FromTrace run() {
        blocking();
        operators();
        const sim::PredictionWithTrace first = predict();
        messages(first);
        spread();
        collectives(first);
        optimizer(first);
        norm();
        measured_.step_overhead = from_seconds(host_.between_steps);
        const sim::PredictionWithTrace last = predict();
        FromTrace out;
        out.traced_step_s = step_seconds(typical_, host_);
        out.predicted_step_s = last.prediction.step_time_s;
        out.cluster = scenario_.cluster;
        out.notes = notes_;
        out.set = set_;
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

    /// A rank that waits for its own messages computes beside none of them. The plan is then played
    /// so, since no time of a message makes up for that.
    void blocking() {
        constexpr double kNone = 0.25;  // those of the warm-up may run beside the next pass
        if (scenario_.parallel.pipeline == 1 || scenarios::sends_block(scenario_) ||
            host_.sends_beside_computes > kNone)
            return;
        scenarios::Scenario waiting = scenario_;
        waiting.framework.point_to_point_blocks = scenarios::MessagesBlock::ByWholeBackward;
        if (!scenarios::sends_block(waiting)) return;
        scenario_ = std::move(waiting);
        plan_ = sim::priced_plan(scenario_);
        set_ = "framework.point_to_point_blocks=whole-backward";
        notes_.push_back(fmt::format(
            "the ranks of this run wait for their messages ({:.0f} % of these have a compute of "
            "their sender beside them): predict it with --set {}",
            100 * host_.sends_beside_computes, *set_));
    }

    void operators() {
        const PassEquations equations = pass_equations(scenario_, plan_, typical_);
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
            "the mean of {} passes of a trace, half of which are within {:.1f} % of the median of "
            "their kind; their times are shared among operators by rates",
            samples, 100 * spread);
        measured_.plans = {scenario_.name};
    }

    /// One size is known: the latency stays, unless it alone is longer than the message.
    void messages(const sim::PredictionWithTrace& first) {
        const KindTimes received = times_of<Recv>(measured_times_);
        const double time = received.mean();
        const double bytes = times_of<Recv>(predicted_times(first)).mean_bytes();
        if (!(time > 0) || !(bytes > 0)) return;
        scenarios::Cluster& cluster = scenario_.cluster;
        const std::string source = fmt::format(
            "the mean of {} messages of {:.0f} bytes in a trace, of which half took {} "
            "or less",
            received.lengths.size(), bytes, text::time_text(median(received.lengths)));
        constexpr double kMostLatency = 0.5;  // of the message's time
        if (scenario_.gpus <= cluster.gpus_per_node) {
            const Duration latency =
                std::min(cluster.node_link.latency, from_seconds(kMostLatency * time));
            cluster.node_link.latency = latency;
            cluster.node_link.base_latency = Duration{};
            cluster.node_link.half_bandwidth_size = Bytes{};
            cluster.node_link.bandwidth = {bytes / (time - seconds(latency))};
            origin("node_link.bandwidth", source);
            origin("node_link.latency", source);
        } else {
            notes_.emplace_back(
                "the job spans several nodes: rates of links stay those of its cluster");
        }
    }

    /// Where two ranks wait for each other, the slower pass of the two counts, so that a step of
    /// passes of different lengths is longer than one of their means (Jensen's inequality). The
    /// program played with the lengths of each step says by how much, and the passes of the
    /// critical path have it: it grows with their number. Ends with what the host adds.
    void spread() {
        const sim::PredictionWithTrace even = predict();
        std::set<std::size_t> kinds;
        for (const auto& [kind, times] : measured_times_) kinds.insert(kind);
        Program program = plan_.program;
        for (ActionList& rank : program.ranks)
            std::erase_if(rank, [&](const Action& a) { return !kinds.contains(a.index()); });
        double sum = 0;
        for (const Trace& step : typical_) {
            Trace as_planned = step;
            as_planned.header.sends_block = scenarios::sends_block(scenario_);
            sum += seconds(statistics(sim::replay_measured(program, as_planned), false).makespan);
        }
        const double played = sum / static_cast<double>(typical_.size());
        const double waits = std::max(0.0, played - even.prediction.makespan_s);
        const Statistics s = statistics(even.trace);
        const auto on_path = std::ranges::count_if(s.critical_path, [&](std::size_t span) {
            return is_work(even.trace.spans[span].action);
        });
        const double each = on_path > 0 ? waits / static_cast<double>(on_path) : 0;
        measured_.pass_overhead = from_seconds(host_.before_pass + each);
        if (scenario_.gpus <= scenario_.cluster.gpus_per_node)
            scenario_.cluster.node_link.latency += from_seconds(host_.before_send);
        measured_.with += fmt::format(
            "; a pass takes {} of the host, and {} for waits by the spread of lengths, of which a "
            "step's critical path has {}",
            text::time_text(host_.before_pass), text::time_text(each), text::time_text(waits));
    }

    void collectives(const sim::PredictionWithTrace& first) {
        const KindsOfTrace predicted = predicted_times(first);
        const auto put = [&](Collective::Kind kind, int ranks, const KindTimes& measured,
                             double bytes) {
            if (ranks < 2 || measured.lengths.empty() || ranks > scenario_.cluster.gpus_per_node)
                return;
            // The smallest gives the latency, the largest the bandwidth.
            MeasuredCollective& cost = measured_.collectives[{kind, ranks}];
            constexpr double kScalar = 4096;
            if (bytes <= kScalar) {
                cost.latency = from_seconds(measured.mean());
                if (!(cost.bandwidth.value > 0))
                    cost.bandwidth = scenario_.cluster.node_link.bandwidth;
                return;
            }
            const double rest =
                std::max(measured.mean() - seconds(cost.latency), 0.1 * measured.mean());
            cost.bandwidth = {bytes / rest};
        };
        const int replicas = scenario_.parallel.data * scenario_.parallel.context;
        if (!own_)  // ours has the sum of squares in it
            put(Collective::Kind::AllReduce, scenario_.gpus, times_of<GradNorm>(measured_times_),
                8);
        put(Collective::Kind::AllReduce, 2, times_of<TiedGradReduce>(measured_times_),
            times_of<TiedGradReduce>(predicted).mean_bytes());
        put(scenario_.parallel.zero_stage == 0 ? Collective::Kind::AllReduce
                                               : Collective::Kind::ReduceScatter,
            replicas, times_of<ReduceGrad>(measured_times_),
            times_of<ReduceGrad>(predicted).mean_bytes());
        put(Collective::Kind::AllGather, replicas, times_of<Unshard>(measured_times_),
            times_of<Unshard>(predicted).mean_bytes());
    }

    void optimizer(const sim::PredictionWithTrace&) {
        const KindTimes measured = times_of<OptimizerStep>(measured_times_);
        if (measured.lengths.empty()) return;
        constexpr double kTried = 1e-9;
        measured_.optimizer_seconds_per_element = kTried;
        const double tried = times_of<OptimizerStep>(predicted_times(predict())).mean();
        if (tried > 0) measured_.optimizer_seconds_per_element = kTried * measured.mean() / tried;
    }

    /// What a norm takes beyond its all-reduce.
    void norm() {
        const KindTimes measured = times_of<GradNorm>(measured_times_);
        if (!own_ || measured.lengths.empty()) return;
        const auto of_rate = [&](double rate) {
            measured_.norm_seconds_per_element = rate;
            return times_of<GradNorm>(predicted_times(predict())).mean();
        };
        constexpr double kTried = 1e-9;
        const double alone = of_rate(0), tried = of_rate(kTried) - alone;
        measured_.norm_seconds_per_element =
            tried > 0 ? kTried * std::max(0.0, measured.mean() - alone) / tried : 0;
    }

    scenarios::Scenario scenario_;
    scenarios::Plan plan_;
    std::vector<Trace> typical_;
    HostTimes host_;
    KindsOfTrace measured_times_;
    bool own_;  ///< whether debubble's executor ran the steps, as it does on processors
    Measured measured_;
    std::optional<std::string> set_;
    std::vector<std::string> notes_;
};

}  // namespace

scenarios::Plan plan_of(const scenarios::Scenario& scenario) {
    return sim::priced_plan(sim::with_choices_made(scenario));
}

FromTrace cluster_from_trace(const scenarios::Scenario& scenario, const Trace& executed,
                             const std::string& name) {
    if (executed.spans.empty())
        throw InputError("no passes were found in the trace, so that it calibrates nothing");
    return Calibration(scenario, executed, name).run();
}

}  // namespace debubble::exec
