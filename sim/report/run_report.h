#pragma once

#include <nlohmann/json_fwd.hpp>

#include "sim/report/report_tables.h"
#include "sim/run_plan/run_plan.h"

/// The whole training as text and as JSON.
namespace debubble::sim {

/// Lines of figures: a name, and text that may be long.
struct RunLine {
    std::string name;
    std::string words;
};
std::vector<RunLine> run_lines(const RunPlan& run);

/// A heading, and a line for each cause on which the mean run spends time, with its share as a bar.
std::vector<TableLine> run_table(const RunPlan& run);

nlohmann::ordered_json run_json(const RunPlan& run);

/// "54.2 d", "7.3 h", "12 min"
std::string span_words(double seconds);

}  // namespace debubble::sim
