#include "exec/program/calibrate/calibrate.h"

#include <algorithm>
#include <ctime>
#include <initializer_list>

#include <fmt/chrono.h>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "exec/core/stage/operators/run_operator.h"
#include "exec/cpu/cpu_kernels.h"
#include "exec/cuda/gpu_placement.h"
#include "exec/program/calibrate/device_rates.h"
#include "exec/program/calibrate/measure_device.h"
#include "exec/program/calibrate/statistics.h"
#include "scenarios/cluster/measured.h"
#include "sim/report/plan_json.h"

namespace debubble::exec {

namespace {

using scenarios::Cluster;
using scenarios::Measured;
using scenarios::Provenance;

/// The scenario with this schedule, as the executor's own framework runs it.
scenarios::Scenario variant(const CalibrateRequest& request, const std::string& name,
                            const std::string& schedule) {
    std::vector<scenarios::Override> overrides = overrides_of(request, name);
    scenarios::Scenario own = scenarios::read_scenario(name, overrides);
    check_supported(own.model);
    check_supported(own.training.precision);
    if (own.parallel.zero_stage == 3)
        throw InputError(fmt::format(
            "{}: parallel.zero_stage is 3, which gathers parameters inside passes; how much of "
            "that time operators hide is not measured; calibrate with 0, 1 or 2",
            own.name));
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
    measured.zero_seconds_per_element = std::max(0.0, middle(timings.zero));
    measured.core_share = timings.core_share;
    measured.norm_seconds_per_element = std::max(0.0, middle(timings.norm));
    measured.step_overhead = from_seconds(middle(timings.step_overheads));
    measured.products = timings.products;
    return measured;
}

std::string software(const GpuFigures& gpu, int ranks) {
    const DeviceFacts& facts = gpu.facts;
    return fmt::format("cuda kernels ({}), {} rank{} as threads at once, {} on a GPU",
                       facts.software, ranks, ranks == 1 ? "" : "s", facts.ranks);
}

std::string software(const MeasureOptions& how, int ranks) {
    const CpuBackEnd back_end = cpu_back_end(how.kernels);
    const std::string version =
        back_end == CpuBackEnd::OneDnn ? fmt::format(" {}", onednn_version()) : "";
    return fmt::format("{}{} kernels, {} thread{} per rank, {} ranks as threads at once",
                       name_of(back_end), version, how.threads, how.threads == 1 ? "" : "s", ranks);
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
    gpu.gemm_fill = gpu.gemm_depth = 0;
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
    // There is only one machine, so the figures of a network are not known.
    cluster.network.nic_bandwidth = {1.25e9};
    cluster.network.latency = cluster.network.p2p_latency = Duration{50'000};
}

using Keys = std::initializer_list<const char*>;
void put_origin(Provenance provenance, const std::string& source, Keys keys, Cluster& cluster) {
    for (const char* key : keys) cluster.origins[key] = {provenance, source};
}

/// Adds the origins of link constants, for both kinds of device.
void put_link_origins(const std::string& source, Cluster& cluster) {
    put_origin(Provenance::Measured, source, {"node_link.bandwidth", "node_link.latency"}, cluster);
    put_origin(Provenance::Assumed, "without influence on operators that were measured whole",
               {"node_link.kind", "node_link.base_latency", "node_link.half_bandwidth_size",
                "network.nic_bandwidth", "network.latency", "network.p2p_latency"},
               cluster);
}

void put_processor_origins(const std::string& source, Cluster& cluster) {
    put_origin(Provenance::Measured, source,
               {"gpu.fp16_flops", "gpu.fp32_flops", "gpu.bf16", "gpu.memory",
                "gpu.memory_bandwidth", "gpu.threads"},
               cluster);
    put_origin(
        Provenance::Assumed, "without influence on operators that were measured whole",
        {"gpu.sms", "gpu.gemm_efficiency", "gpu.gemm_fill", "gpu.gemm_depth",
         "gpu.attention_forward_efficiency", "gpu.attention_backward_efficiency",
         "gpu.memory_efficiency", "gpu.gemm_overhead", "gpu.kernel_overhead", "gpu.host_link"},
        cluster);
}

/// Operators that were not measured whole are priced by these constants, so each names its origin.
void put_gpu(const GpuFigures& gpu, Cluster& cluster) {
    const DeviceFacts& facts = gpu.facts;
    const std::optional<Cluster> sheet = shipped_cluster_of(gpu.name, facts.memory);
    put_rates(facts, rates_of(gpu.timings), sheet, cluster.gpu);
    cluster.gpu.name = facts.ranks > 1 ? fmt::format("one rank's share of {}", gpu.name) : gpu.name;
    cluster.gpu.host_link = std::min(gpu.copies.to_device, gpu.copies.from_device);
    cluster.gpu.threads.reset();
    const std::string part = facts.ranks > 1 ? fmt::format(", cut by {}", facts.ranks) : "";
    if (sheet)
        put_origin(Provenance::Datasheet,
                   fmt::format("the datasheet of cluster {}{}", sheet->name, part),
                   {"gpu.fp16_flops", "gpu.fp32_flops", "gpu.memory_bandwidth"}, cluster);
    else
        put_origin(
            Provenance::Measured,
            "the highest rates of the sweeps, since no shipped cluster has this card's datasheet",
            {"gpu.fp16_flops", "gpu.fp32_flops", "gpu.memory_bandwidth"}, cluster);
    put_origin(Provenance::Measured, fmt::format("reported by the driver of the GPU{}", part),
               {"gpu.sms", "gpu.bf16", "gpu.memory"}, cluster);
    put_origin(Provenance::Measured,
               fmt::format("a wave of products: {}", curve_text(gpu.timings, "product")),
               {"gpu.gemm_efficiency", "gpu.gemm_fill", "gpu.gemm_depth", "gpu.gemm_overhead"},
               cluster);
    put_origin(
        Provenance::Measured,
        fmt::format("causal attention, heads of 128: {}", curve_text(gpu.timings, "attention")),
        {"gpu.attention_forward_efficiency", "gpu.attention_backward_efficiency"}, cluster);
    put_origin(Provenance::Measured,
               fmt::format("sums: {}; GELU: {}; LayerNorm: {}", curve_text(gpu.timings, "sum"),
                           curve_text(gpu.timings, "gelu"), curve_text(gpu.timings, "norm")),
               {"gpu.memory_efficiency", "gpu.kernel_overhead"}, cluster);
    put_origin(Provenance::Measured,
               fmt::format("copies of page-locked memory: {:.3g} GB/s to the GPU, {:.3g} from it",
                           gpu.copies.to_device.value * 1e-9, gpu.copies.from_device.value * 1e-9),
               {"gpu.host_link"}, cluster);
}

std::string today() {
    return fmt::format("{:%Y-%m-%d}", fmt::gmtime(std::time(nullptr)));
}

}  // namespace

std::vector<scenarios::Override> overrides_of(const CalibrateRequest& request,
                                              const std::string& scenario) {
    std::vector<scenarios::Override> overrides = request.set;
    overrides.emplace_back("framework", "debubble");
    if (!request.ranks) return overrides;
    const scenarios::Parallel asked = scenarios::read_scenario(scenario, request.set).parallel;
    const int gpus = asked.gpus() / asked.pipeline * *request.ranks;
    overrides.emplace_back("parallel.pipeline", std::to_string(*request.ranks));
    overrides.emplace_back("gpus", std::to_string(gpus));
    return overrides;
}

Cluster calibrate(const CalibrateRequest& request, const std::string& name,
                  const std::function<void(const std::string&)>& on_note) {
    JobTimings timings;
    int ranks = 2, gpu_ranks = 1;
    // All scenarios are read before the first is measured, so that mistakes show at once.
    std::vector<scenarios::Scenario> jobs;
    for (const std::string& scenario : request.scenarios)
        for (const char* schedule : {"gpipe", "zb-h1"}) {
            jobs.push_back(variant(request, scenario, schedule));
            gpu_ranks = std::max(gpu_ranks, jobs.back().parallel.gpus());
            ranks = std::max(ranks, gpu_ranks);
            if (jobs.back().schedule.slices > 1) break;
        }
    for (const scenarios::Scenario& job : jobs) {
        on_note(fmt::format("{}: {} on {} ranks, {} microbatches", job.name, job.schedule.name,
                            job.parallel.gpus(), job.training.micro_batches));
        timings.add(measure_job(job, request.how));
    }
    const std::string detour =
        request.how.device ? note_of_calibration(ranks, request.how.gpus) : "";
    on_note(fmt::format("messages and collectives of {} ranks{}{}", ranks,
                        detour.empty() ? "" : ": ", detour));
    const LinkTimings links = measure_local_links(ranks, request.how);

    Cluster cluster;
    cluster.name = name;
    cluster.gpus_per_node = std::max(8, ranks);
    Measured measured = medians_of(timings);
    for (const scenarios::Scenario& job : jobs)
        measured.plans.push_back(sim::plan_json(job)["words"].get<std::string>());
    put_links(links, cluster, measured);
    if (request.how.device) {
        on_note("kernels of the GPU over growing shapes");
        const GpuFigures gpu = measure_gpu(gpu_ranks, request.how);
        measured.with = software(gpu, gpu_ranks);
        const std::string source =
            fmt::format("debubble calibrate --device cuda: {}", measured.with);
        cluster.source = fmt::format("{}; {}; {}", source, gpu.name, today());
        put_gpu(gpu, cluster);
        put_link_origins(detour.empty() ? source : source + "; " + detour, cluster);
    } else {
        on_note("rates of the processor");
        const DeviceFigures device = measure_device(ranks, request.how);
        measured.with = software(request.how, ranks);
        const std::string source =
            fmt::format("debubble calibrate --device cpu: {}", measured.with);
        cluster.source = fmt::format("{}; {} cores of {} ({}); {}", source, device.cores,
                                     device.processor, device.features, today());
        put_device(device, request.how.threads, cluster);
        put_processor_origins(source, cluster);
        put_link_origins(source, cluster);
    }
    cluster.measured = std::make_shared<const Measured>(std::move(measured));
    return cluster;
}

}  // namespace debubble::exec
