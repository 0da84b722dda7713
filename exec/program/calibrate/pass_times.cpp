#include "exec/program/calibrate/pass_times.h"

#include <algorithm>
#include <numeric>

#include <fmt/format.h>

#include "base/diagnostic.h"
#include "base/overloaded.h"
#include "models/graph/operator_runs.h"
#include "scenarios/plan/derived.h"

namespace debubble::exec {
namespace {

/// Seconds by the rates of the cluster's device: only their proportions matter.
double by_rates(const models::Kernel& kernel, const scenarios::Cluster& cluster) {
    const scenarios::Gpu& gpu = cluster.gpu;
    const double flops =
        std::max(1.0, gpu.fp16_flops_per_s.value_or(gpu.fp32_flops_per_s.value_or(0)));
    const double bytes = std::max(1.0, gpu.memory_bandwidth.value);
    const double link = std::max(1.0, cluster.node_link.bandwidth.value);
    constexpr double kLaunch = 2e-6;
    return kLaunch +
           std::visit(Overloaded{
                          [&](const models::Gemm& g) {
                              return 2.0 * static_cast<double>(g.batch) * static_cast<double>(g.m) *
                                     static_cast<double>(g.n) * static_cast<double>(g.k) / flops;
                          },
                          [&](const models::FlashAttention& a) {
                              const double pairs = static_cast<double>(a.batch * a.heads) *
                                                   static_cast<double>(a.queries) *
                                                   static_cast<double>(a.keys) *
                                                   (a.causal ? 0.5 : 1.0);
                              return pairs * static_cast<double>(a.head_dim) *
                                     (a.backward ? 10 : 4) / flops;
                          },
                          [&](const models::Traffic& t) {
                              return static_cast<double>(t.read.count + t.written.count) / bytes;
                          },
                          [&](const models::Collective& c) {
                              return c.count * static_cast<double>(c.bytes.count) / link;
                          },
                      },
                      kernel.work);
}

class Equations {
public:
    Equations(const scenarios::Scenario& scenario, const scenarios::Plan& plan,
              const std::vector<Trace>& steps)
        : scenario_(scenario), plan_(plan) {
        for (const Trace& step : steps)
            for (const Span& span : step.spans) {
                if (const auto* pass = std::get_if<Compute>(&span.action))
                    measured_[{pass->stage.index, pass->pass}].push_back(seconds(span.length()));
                if (std::holds_alternative<Overlap>(span.action))
                    throw InputError(
                        "the trace holds overlapped passes, of which one time is known "
                        "for both: it calibrates nothing");
            }
    }

    PassEquations make() {
        if (scenario_.schedule.slices > 1)
            throw InputError(
                fmt::format("{}: schedule.slices cuts sequences, whose passes differ by "
                            "slice: a trace of them calibrates nothing",
                            scenario_.name));
        for (std::size_t rank = 0; rank < plan_.program.ranks.size(); ++rank)
            for (const Action& action : plan_.program.ranks[rank])
                for_each_compute(action, [&](const Compute& pass) { need(pass, rank); });
        for (auto& [key, passes] : found_) out_.passes.push_back(std::move(passes));
        return std::move(out_);
    }

private:
    void need(const Compute& pass, std::size_t rank) {
        const std::pair key{pass.stage.index, pass.pass};
        if (found_.contains(key)) return;
        const auto measured = measured_.find(key);
        if (measured == measured_.end())
            throw InputError(fmt::format(
                "the trace holds no pass like {} of rank {}, which the plan of {} lists",
                to_text(Action(pass)), rank, scenario_.name));
        PassTimes passes;
        passes.seconds = measured->second;
        const models::StageGraph& graph = graph_of(pass.stage.index);
        const bool split = pass.pass == Pass::BackwardInput || pass.pass == Pass::BackwardWeight;
        const models::RunsByPass runs = models::operator_runs(graph, split);
        const std::size_t which = pass.pass == Pass::Forward          ? 0
                                  : pass.pass == Pass::BackwardWeight ? 2
                                                                      : 1;
        for (const models::OperatorRun& run : runs[which]) {
            const models::Operator& op = graph.operators[run.op];
            const std::vector<models::Kernel> kernels = models::kernels_of(op, run.part);
            if (kernels.empty()) continue;
            const std::pair name{models::signature_of(graph, op), run.part};
            ++passes.operators[name];
            double time = 0;
            for (const models::Kernel& kernel : kernels)
                time += by_rates(kernel, scenario_.cluster);
            out_.by_rates[name] = time;
        }
        found_.emplace(key, std::move(passes));
    }

    const models::StageGraph& graph_of(int stage) {
        const auto known = graphs_.find(stage);
        if (known != graphs_.end()) return known->second;
        return graphs_
            .emplace(stage, models::build_stage(scenario_.model, scenarios::execution_of(scenario_),
                                                plan_.stages[stage]))
            .first->second;
    }

    const scenarios::Scenario& scenario_;
    const scenarios::Plan& plan_;
    std::map<std::pair<int, Pass>, std::vector<double>> measured_;
    std::map<std::pair<int, Pass>, PassTimes> found_;
    std::map<int, models::StageGraph> graphs_;
    PassEquations out_;
};

}  // namespace

PassEquations pass_equations(const scenarios::Scenario& scenario, const scenarios::Plan& plan,
                             const std::vector<Trace>& steps) {
    return Equations(scenario, plan, steps).make();
}

OperatorTimes solve(const PassEquations& equations) {
    OperatorTimes times = equations.by_rates;
    std::vector<double> measured;
    for (const PassTimes& pass : equations.passes)
        measured.push_back(std::accumulate(pass.seconds.begin(), pass.seconds.end(), 0.0) /
                           static_cast<double>(pass.seconds.size()));
    constexpr int kIterations = 500;
    for (int round = 0; round < kIterations; ++round) {
        std::map<std::pair<std::string, models::Part>, std::pair<double, double>> ratios;
        for (std::size_t i = 0; i < measured.size(); ++i) {
            double predicted = 0;
            for (const auto& [key, count] : equations.passes[i].operators)
                predicted += count * times[key];
            if (!(predicted > 0)) continue;
            for (const auto& [key, count] : equations.passes[i].operators) {
                const double share = count * times[key] / predicted;
                ratios[key].first += share * measured[i] / predicted;
                ratios[key].second += share;
            }
        }
        for (auto& [key, time] : times) {
            const auto found = ratios.find(key);
            if (found != ratios.end() && found->second.second > 0)
                time *= found->second.first / found->second.second;
        }
    }
    return times;
}

}  // namespace debubble::exec
