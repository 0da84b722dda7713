#pragma once

#include <string>
#include <vector>

#include "sim/measured/error_summary.h"

/// Measured steps compared with their predictions, in words and as JSON. Errors are in percent.
namespace debubble::sim {

struct AccuracyReport {
    std::vector<std::string> tables;
    std::vector<MeasuredComparison> rows;
    std::vector<std::string> by;  ///< keys by whose values the errors are listed, too
};

std::string to_text(const AccuracyReport& report);
std::string to_json(const AccuracyReport& report);

}  // namespace debubble::sim
