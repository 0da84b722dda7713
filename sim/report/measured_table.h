#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "models/execution.h"

/// Published or measured training steps, a row per configuration, and the scenarios
/// that they describe. What a table does not say (which software, which network,
/// how FLOPs are counted) stands in one table of this folder's measured_table.cpp.
namespace debubble::sim {

/// One configuration, and what it took.
struct MeasuredStep {
    int line = 0;       ///< in the file
    std::string label;  ///< "18.4b t8 p1 d32 mb4"
    double seconds = 0;
    double work = 0;  ///< FLOPs per GPU, recomputation included: what the null model divides
    int tensor = 1;
    int pipeline = 1;
    /// YAML scenarios that the row may stand for: more than one where it does not state
    /// the microbatch. The fastest that fits is taken.
    std::vector<std::string> scenarios;
};

struct MeasuredTable {
    std::string name;
    std::vector<MeasuredStep> steps;
};

struct MeasuredOptions {
    std::optional<std::string> cluster;    ///< instead of the table's own
    std::optional<std::string> framework;  ///< likewise
};

/// Tables that give iteration_ms, iteration_s, tflops_per_gpu, or
/// seconds_for_all_updates with updates. Throws InputError with every bad cell.
MeasuredTable read_measured(const std::string& text, const std::string& file,
                            const MeasuredOptions& options = {});

}  // namespace debubble::sim
