#pragma once

#include <functional>
#include <string>
#include <vector>

#include "exec/program/calibrate/measure_job.h"
#include "scenarios/read_scenario.h"

/// `debubble calibrate`: this machine as a cluster file.
namespace debubble::exec {

struct CalibrateRequest {
    /// Whose operators are measured, in the layers and extents that their stages have.
    std::vector<std::string> scenarios{"two-rank-gpt"};
    std::vector<scenarios::Override> set;
    std::optional<int> ranks;  ///< of the pipeline; unset: as the scenarios say
    MeasureOptions how;
};

/// Of one of the scenarios: what was asked, by the executor's own framework, and a pipeline of so
/// many ranks on as many GPUs as that takes.
std::vector<scenarios::Override> overrides_of(const CalibrateRequest& request,
                                              const std::string& scenario);

/// Measures every scenario twice, with the backward whole (gpipe) and parted (zb-h1), or with its
/// own schedule if that cuts the sequence; then the links and the device with as many ranks as
/// the largest. The name of the cluster is `name`. Calls on_note before each part.
scenarios::Cluster calibrate(const CalibrateRequest& request, const std::string& name,
                             const std::function<void(const std::string&)>& on_note);

/// YAML that scenarios::read_cluster reads back to the same figures.
std::string cluster_text(const scenarios::Cluster& cluster);

}  // namespace debubble::exec
