#include "exec/calibrate/calibrate.h"

#include <algorithm>

#include <fmt/format.h>

#include "exec/calibrate/measure_device.h"
#include "exec/calibrate/measure_links.h"
#include "exec/calibrate/statistics.h"
#include "exec/cpu/cpu_kernels.h"
#include "scenarios/measured.h"

namespace debubble::exec {

namespace {

using scenarios::Cluster;
using scenarios::Measured;
using scenarios::Provenance;

/// The scenario as the executor's own framework runs it, with this schedule.
scenarios::Scenario variant(const CalibrateRequest& request, const std::string& name,
                            const std::string& schedule) {
    std::vector<scenarios::Override> overrides = request.set;
    overrides.emplace_back("framework", "debubble");
    if (request.ranks) overrides.emplace_back("parallel.pipeline", std::to_string(*request.ranks));
    scenarios::Scenario own = scenarios::read_scenario(name, overrides);
    if (own.schedule.slices > 1) return own;
    overrides.emplace_back("schedule", schedule);
    if (own.parallel.stages_per_rank > 1) {
        overrides.emplace_back("parallel.stages_per_rank", "1");
        overrides.emplace_back("parallel.partition", "uniform");
    }
    return scenarios::read_scenario(name, overrides);
}

Measured medians_of(const JobTimings& timings) {
    const auto middle = [](const std::vector<double>& values) {
        return values.empty() ? 0 : median(values);
    };
    Measured measured;
    for (const auto& [key, values] : timings.operators)
        measured.operators[key] = {from_seconds(median(values)), from_seconds(deviation(values)),
                                   static_cast<int>(values.size())};
    measured.pass_overhead = from_seconds(middle(timings.pass_overheads));
    measured.optimizer_seconds_per_element = middle(timings.optimizer);
    measured.norm_seconds_per_element = std::max(0.0, middle(timings.norm));
    measured.step_overhead = from_seconds(middle(timings.step_overheads));
    return measured;
}

std::string software(const MeasureOptions& how, int ranks) {
    const auto kernels = make_cpu_kernels(how.kernels, how.threads);
    const std::string version = kernels->name() == "onednn" ? " " + onednn_version() : "";
    return fmt::format("{}{} kernels, {} thread{} per rank, {} ranks as threads at once",
                       kernels->name(), version, how.threads, how.threads == 1 ? "" : "s", ranks);
}

void put_device(const DeviceFigures& device, int threads, Cluster& cluster) {
    scenarios::Gpu& gpu = cluster.gpu;
    gpu.name = "one rank's share of " + device.processor;
    gpu.sms = 1;
    gpu.fp16_flops_per_s = device.bf16_flops_per_s;
    gpu.fp32_flops_per_s = device.fp32_flops_per_s;
    gpu.bf16 = device.bf16;
    gpu.memory = device.memory;
    gpu.memory_bandwidth = gpu.host_link = device.memory_bandwidth;
    gpu.gemm_efficiency = gpu.memory_efficiency = 1;
    gpu.gemm_overhead = Duration{5000};
    gpu.kernel_overhead = Duration{2000};
    gpu.threads = threads;
}

void put_links(const LinkTimings& links, Cluster& cluster, Measured& measured) {
    scenarios::NodeLink& link = cluster.node_link;
    link.kind = scenarios::NodeLink::Kind::Switched;
    link.bandwidth = links.message.bandwidth;
    link.latency = links.message.latency;
    link.base_latency = Duration{};
    link.half_bandwidth_size = Bytes{};
    measured.collectives = links.collectives;
    // There is one machine; what a network would do is not known.
    cluster.network.nic_bandwidth = {1.25e9};
    cluster.network.latency = cluster.network.p2p_latency = Duration{50'000};
}

void put_origins(const std::string& source, Cluster& cluster) {
    for (const char* key :
         {"gpu.fp16_flops", "gpu.fp32_flops", "gpu.bf16", "gpu.memory", "gpu.memory_bandwidth",
          "gpu.threads", "node_link.bandwidth", "node_link.latency"})
        cluster.origins[key] = {Provenance::Measured, source};
    for (const char* key :
         {"gpu.sms", "gpu.gemm_efficiency", "gpu.attention_forward_efficiency",
          "gpu.attention_backward_efficiency", "gpu.memory_efficiency", "gpu.gemm_overhead",
          "gpu.kernel_overhead", "gpu.host_link", "node_link.kind", "node_link.base_latency",
          "node_link.half_bandwidth_size", "network.nic_bandwidth", "network.latency",
          "network.p2p_latency"})
        cluster.origins[key] = {Provenance::Assumed, "of no account to what was measured whole"};
}

}  // namespace

Cluster calibrate(const CalibrateRequest& request, const std::string& name,
                  const std::function<void(const std::string&)>& on_note) {
    JobTimings timings;
    int ranks = 2;
    // All are read before the first is measured, so that mistakes show at once.
    std::vector<scenarios::Scenario> jobs;
    for (const std::string& scenario : request.scenarios)
        for (const char* schedule : {"gpipe", "zb-h1"}) {
            jobs.push_back(variant(request, scenario, schedule));
            ranks = std::max(ranks, jobs.back().parallel.gpus());
            if (jobs.back().schedule.slices > 1) break;
        }
    for (const scenarios::Scenario& job : jobs) {
        on_note(fmt::format("{}: {} on {} ranks, {} microbatches", job.name, job.schedule.name,
                            job.parallel.gpus(), job.training.micro_batches));
        timings.add(measure_job(job, request.how));
    }
    on_note(fmt::format("messages and collectives of {} ranks", ranks));
    const LinkTimings links = measure_local_links(ranks, request.how.patience);
    on_note("rates of the processor");
    const DeviceFigures device =
        measure_device(ranks, request.how.kernels, request.how.threads, request.how.patience);

    Cluster cluster;
    cluster.name = name;
    cluster.gpus_per_node = std::max(8, ranks);
    Measured measured = medians_of(timings);
    measured.with = software(request.how, ranks);
    const std::string source = fmt::format("debubble calibrate --device cpu: {}", measured.with);
    cluster.source = fmt::format("{}; {} cores of {} ({})", source, device.cores, device.processor,
                                 device.features);
    put_device(device, request.how.threads, cluster);
    put_links(links, cluster, measured);
    put_origins(source, cluster);
    cluster.measured = std::make_shared<const Measured>(std::move(measured));
    return cluster;
}

}  // namespace debubble::exec
