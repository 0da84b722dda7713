#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "models/execution.h"

/// Published or measured training steps, one row per configuration, and the scenarios that they
/// describe. The facts that a table does not state (which software, which network, how FLOPs are
/// counted) are in one table of measured_table.cpp.
namespace debubble::sim {

/// One configuration and its measured time.
struct MeasuredStep {
    int line = 0;       ///< line in the file
    std::string label;  ///< "18.4b t8 p1 d32 mb4"
    double seconds = 0;
    double work = 0;  ///< FLOPs per GPU, recomputation included, which the null model divides
    int tensor = 1;
    int pipeline = 1;
    /// The YAML scenarios that the row may stand for: more than one where it does not state the
    /// microbatch. The fastest that fits is taken.
    std::vector<std::string> scenarios;
};

struct MeasuredTable {
    std::string name;
    std::vector<MeasuredStep> steps;
};

struct MeasuredOptions {
    std::optional<std::string> cluster;    ///< replaces the table's own cluster
    std::optional<std::string> framework;  ///< replaces the table's own framework
};

/// Reads tables that give iteration_ms, iteration_s, tflops_per_gpu, or seconds_for_all_updates
/// with updates. Throws InputError with every bad cell.
MeasuredTable read_measured(const std::string& text, const std::string& file,
                            const MeasuredOptions& options = {});

}  // namespace debubble::sim
