#pragma once

#include <functional>
#include <string>
#include <vector>

#include "scenarios/scenario.h"
#include "sim/predict.h"
#include "sim/report/measured_table.h"

/// The comparison of predictions with measurements.
namespace debubble::sim {

struct CostComparison {
    int line = 0;
    std::string label;
    double measured_s = 0;
    double predicted_s = 0;
    double null_s = 0;     ///< the time that the null model predicts
    std::string scenario;  ///< the YAML that was predicted
    double error() const { return predicted_s / measured_s - 1; }
    double null_error() const { return null_s / measured_s - 1; }
};

/// A summary of absolute relative errors, except for the bias, which keeps the sign.
struct ErrorSummary {
    double mean = 0;
    double median = 0;
    double worst = 0;
    double bias = 0;
};

struct CostValidation {
    std::string table;
    std::vector<CostComparison> rows;
    ErrorSummary prediction;
    /// One constant for all rows, FLOP/s per GPU, chosen to make its own mean error least:
    /// a model that does worse knows nothing.
    ErrorSummary null_model;
    double null_flops_per_s = 0;
    std::vector<std::string> skipped;  ///< "line 4: why"
};

using Predictor = std::function<Prediction(const scenarios::Scenario&)>;

/// `predictor` is sim::predict, without trace and allocator.
CostValidation validate_cost(const MeasuredTable& table, const Predictor& predictor);

/// Precondition: `relative_errors` is not empty.
ErrorSummary summarize(std::vector<double> relative_errors);

std::string to_text(const CostValidation& validation);
std::string to_json(const CostValidation& validation);

}  // namespace debubble::sim
