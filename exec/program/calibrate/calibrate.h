#pragma once

#include <functional>
#include <string>
#include <vector>

#include "exec/program/calibrate/measure_job.h"
#include "scenarios/read/read_scenario.h"

/// `debubble calibrate`: writes the figures of this machine as a cluster file.
namespace debubble::exec {

struct CalibrateRequest {
    /// Scenarios whose operators are measured, in the layers and sizes that their stages have.
    std::vector<std::string> scenarios{"two-rank-gpt"};
    std::vector<scenarios::Override> set;
    std::optional<int> ranks;  ///< pipeline ranks; unset: those of the scenarios
    MeasureOptions how;
};

/// The overrides of a scenario: those of the request, the executor's own framework, and a pipeline
/// of the asked number of ranks on as many GPUs as that takes.
std::vector<scenarios::Override> overrides_of(const CalibrateRequest& request,
                                              const std::string& scenario);

/// Measures every scenario twice, with the backward whole (gpipe) and split (zb-h1), or once with
/// its own schedule if that cuts the sequence; then the links and the device with as many ranks as
/// the largest scenario. `name` is the name of the cluster. Calls on_note before each part.
scenarios::Cluster calibrate(const CalibrateRequest& request, const std::string& name,
                             const std::function<void(const std::string&)>& on_note);

/// The cluster as YAML from which scenarios::read_cluster reads the same figures;
/// gpu.kernels_file is what it names its table of kernels by.
std::string cluster_text(const scenarios::Cluster& cluster);

}  // namespace debubble::exec
