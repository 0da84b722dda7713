#include "sim/explain/plan_run.h"

#include <algorithm>
#include <cmath>

#include "sim/explain/communication.h"
#include "sim/run_plan/save_interval.h"

namespace debubble::sim {
namespace {

using scenarios::Reliability;
using scenarios::Scenario;

constexpr double kYear = 365.25 * 86400;
constexpr double kDay = 86400;
/// Seconds that an asynchronous save holds all ranks up for beside its copy, to plan and to launch
/// it: ByteCheckpoint blocks 0.34 s where a rank has little to copy (arXiv:2407.20143, table 8, 7B
/// on 1,488 GPUs), and saves in memory of each step 0.02 s (ByteRobust, arXiv:2509.16293, table 8).
constexpr double kLeastPause = 0.34;
constexpr double kLeastPauseInMemory = 0.02;
constexpr double kMostOfAdapters = 0.9;  ///< that a write may take from steps

/// What of the job fails and saves together: a tray where trays make a node, else a node.
int gpus_of_machine(const scenarios::Cluster& cluster) {
    return cluster.gpus_per_tray.value_or(cluster.gpus_per_node);
}

int machines_of(const Scenario& scenario) {
    const int each = gpus_of_machine(scenario.cluster);
    return (scenario.gpus + each - 1) / each;
}

double step_of(const Prediction& p) {
    return p.anchored && p.anchored->time_ratio ? p.anchored->step_time_s : p.mean_step_s();
}

/// The share of all parameters that the fullest pipeline rank has.
double fullest_share(const Prediction& prediction) {
    double all = 0;
    double most = 0;
    for (const RankPrediction& rank : prediction.ranks) {
        const auto held = static_cast<double>(rank.memory[MemoryClass::Parameters].count);
        all += held;
        most = std::max(most, held);
    }
    return all > 0 ? most / all : 1 / static_cast<double>(prediction.ranks.size());
}

/// The share of a step in which it waits for messages between machines.
double exposed_between_machines(const Prediction& prediction) {
    const TimeByKind mean = mean_communication(prediction);
    const double exposed =
        mean[CommunicationKind::Data].exposed + mean[CommunicationKind::Pipeline].exposed;
    return std::min(1.0, exposed / prediction.step_time_s);
}

CheckpointTraffic traffic_of(const Scenario& scenario, const Prediction& prediction) {
    const scenarios::Cluster& cluster = scenario.cluster;
    const scenarios::CheckpointPolicy& policy = scenario.reliability->checkpoint;
    const int machines = machines_of(scenario);
    CheckpointTraffic t;
    t.whole = static_cast<double>(checkpoint_bytes(scenario, prediction.parameters).count);
    t.rank = t.whole * fullest_share(prediction) / scenario.parallel.ranks_of_stage();
    const int each = std::min(gpus_of_machine(cluster), scenario.gpus);
    t.machine = std::min(t.whole, t.rank * each);
    const scenarios::NodeNetwork& network = cluster.network;
    t.adapters = network.nic_bandwidth.value * network.efficiency * network.nics_per_node * each /
                 cluster.gpus_per_node;
    const auto storage = [&](const std::optional<BytesPerSecond>& given, BytesPerSecond of_one) {
        return given.value_or(BytesPerSecond{of_one.value * machines}).value;
    };
    // What one machine was told to write and read may be its own disk.
    const auto through = [&](const std::optional<BytesPerSecond>& given) {
        return machines == 1 && given ? 0 : t.machine / t.adapters;
    };
    const bool in_background = policy.async || policy.keep_in_memory;
    t.write_s = std::max(t.whole / storage(policy.write_bandwidth, scenarios::kStorageWrite),
                         through(policy.write_bandwidth)) +
                policy.latency_s.value_or(in_background ? scenarios::kWriteLatency : 0);
    t.load_s = std::max(t.whole / storage(policy.read_bandwidth, scenarios::kStorageRead),
                        through(policy.read_bandwidth));
    t.host_link = cluster.gpu.host_link.value;
    t.exposed = exposed_between_machines(prediction);
    return t;
}

SaveCost save_cost(const scenarios::CheckpointPolicy& policy, const CheckpointTraffic& traffic) {
    SaveCost cost;
    cost.in_memory = policy.keep_in_memory;
    if (!policy.async && !policy.keep_in_memory) {
        cost.pause = policy.pause_s.value_or(traffic.write_s);
        return cost;
    }
    const double of_writes = traffic.machine / traffic.write_s / traffic.adapters;
    const double taken = std::min(kMostOfAdapters, of_writes);
    cost.pause =
        policy.pause_s.value_or(traffic.rank / traffic.host_link +
                                (policy.keep_in_memory ? kLeastPauseInMemory : kLeastPause));
    cost.persist = traffic.write_s;
    cost.background = traffic.write_s * traffic.exposed * taken / (1 - taken);
    if (policy.keep_in_memory)  // a copy goes to another machine at half of the adapters' rate
        cost.pause += traffic.exposed * 2 * traffic.machine / traffic.adapters;
    return cost;
}

StopCost stop_cost(const Reliability& r, const CheckpointTraffic& traffic) {
    const double before = r.restart.scheduler_s + r.restart.start_s;
    const double from_memory =
        traffic.rank / traffic.host_link + traffic.machine / traffic.adapters;
    const double load = r.restart.load_s.value_or(traffic.load_s);
    return {r.detect_s, before + load, before + std::min(load, from_memory)};
}

FailureRates rates_of(const Reliability& r, int gpus, int machines) {
    const int switches = (machines + r.hosts_per_switch - 1) / r.hosts_per_switch;
    FailureRates rates;
    rates.job = r.failures_per_job_day / kDay;
    rates.machine = (gpus * r.failures_per_gpu_year + machines * r.failures_per_host_year) / kYear;
    rates.switches = switches * r.failures_per_switch_year / kYear;
    rates.machines_per_switch = std::min(machines, r.hosts_per_switch);
    return rates;
}

void add_energy(RunPlan& run, const Scenario& scenario) {
    const scenarios::Cluster& cluster = scenario.cluster;
    const scenarios::EnergyUse& energy = scenario.energy;
    const RunFigures& figures = run.figures;
    const double hours = figures.p50_s / 3600;
    if (cluster.gpu.power) run.gpus_mwh = *cluster.gpu.power * scenario.gpus * hours / 1e6;
    if (!cluster.node_power) return;
    double working = 0;
    for (const RunTime time :
         {RunTime::Useful, RunTime::Recompute, RunTime::Degraded, RunTime::SlowRank})
        working += of(figures.seconds, time) / figures.mean_s;
    const double of_gpu = *cluster.node_power / cluster.gpus_per_node;
    const double of_job = energy.busy * working + energy.idle * (1 - working);
    const double watts =
        of_gpu * (scenario.gpus * of_job + (run.gpus - scenario.gpus) * energy.idle);
    run.energy_mwh = watts * energy.pue * hours / 1e6;
    if (energy.co2_per_kwh) run.co2_t = *run.energy_mwh * *energy.co2_per_kwh;
}

}  // namespace

RunJob with_reliability(RunJob job, const Reliability& r, int gpus, int elastic_replicas,
                        const CheckpointTraffic& traffic) {
    job.failures = rates_of(r, gpus, job.machines);
    job.save = save_cost(r.checkpoint, traffic);
    job.stop = stop_cost(r, traffic);
    job.spares = r.spares;
    job.repair = r.repair_s;
    if (r.elastic) job.elastic = ElasticReplicas{elastic_replicas, r.stall_s};
    if (r.slow_rank)
        job.slow = SlowRanks{r.slow_rank->per_gpu_year * gpus / kYear, r.slow_rank->factor,
                             r.slow_rank->detect_s};
    if (r.maintenance) job.planned = {r.maintenance->every_s, r.maintenance->takes_s};
    const std::optional<double>& every = r.checkpoint.every_s;
    const SaveIntervals intervals =
        every ? intervals_of(job, std::max<std::int64_t>(1, std::llround(*every / job.step)))
              : best_intervals(job);
    job.save_every = intervals.save_every;
    job.remote_every = intervals.remote_every;
    return job;
}

RunJob run_job_of(const Scenario& scenario, const Prediction& prediction) {
    RunJob job;
    job.step = step_of(prediction);
    const double tokens_per_step = prediction.tokens_per_s * prediction.mean_step_s();
    job.steps = std::ceil(static_cast<double>(*scenario.training.run.tokens) / tokens_per_step);
    job.machines = machines_of(scenario);
    job.save_every = static_cast<std::int64_t>(std::min(job.steps, 1e15));
    if (!scenario.reliability) return job;
    return with_reliability(job, *scenario.reliability, scenario.gpus,
                            std::min(elastic_replicas(scenario), job.machines),
                            traffic_of(scenario, prediction));
}

void plan_run(const Scenario& scenario, Prediction& prediction) {
    if (!scenario.training.run.tokens) return;
    RunPlan run;
    run.tokens = *scenario.training.run.tokens;
    const RunJob job = run_job_of(scenario, prediction);
    run.steps = static_cast<std::int64_t>(job.steps);
    run.checkpoint = checkpoint_bytes(scenario, prediction.parameters);
    run.gpus = scenario.gpus;
    int draws = 1;
    std::uint64_t seed = 1;
    if (const auto& r = scenario.reliability) {
        const CheckpointTraffic traffic = traffic_of(scenario, prediction);
        run.write_s = traffic.write_s;
        run.load_s = traffic.load_s;
        run.chose_interval = !r->checkpoint.every_s;
        run.gpus += r->spares.value_or(0) * gpus_of_machine(scenario.cluster);
        draws = r->draws;
        seed = static_cast<std::uint64_t>(r->seed);
    }
    run.figures = figures_of(job, draws, seed);
    run.gpu_hours = run.figures.p50_s / 3600 * run.gpus;
    if (scenario.price) {
        run.cost = run.gpu_hours * scenario.price->gpu_hour;
        run.currency = scenario.price->currency;
    }
    add_energy(run, scenario);
    prediction.run = std::move(run);
}

}  // namespace debubble::sim
