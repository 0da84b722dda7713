#include "exec/program/run/run_job.h"

#include <fmt/format.h>

#include "scenarios/plan/derived.h"

namespace debubble::exec {

PeakRate peak_of_processor(const scenarios::Scenario& scenario, int threads) {
    const scenarios::Cluster& cluster = scenario.cluster;
    if (!cluster.gpu.threads)
        return {{},
                fmt::format("cluster '{}' has GPUs, but this ran on a processor; `debubble "
                            "calibrate` writes a cluster with this machine's peak rate",
                            cluster.name)};
    const std::optional<double> peak = scenarios::peak_flops_per_s(scenario);
    if (!peak)
        return {{}, fmt::format("cluster '{}' has no peak rate of this precision", cluster.name)};
    const int of = *cluster.gpu.threads;
    return {*peak * threads / of,
            fmt::format("{:.4g} GFLOP/s of {} ({} thread{}) of cluster '{}'", *peak / 1e9,
                        cluster.gpu.name, of, of == 1 ? "" : "s", cluster.name)};
}

}  // namespace debubble::exec
