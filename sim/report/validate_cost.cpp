#include "sim/report/validate_cost.h"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <numeric>
#include <optional>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/diagnostic.h"
#include "scenarios/read_scenario.h"
#include "text/wording.h"

namespace debubble::sim {
namespace {

/// The fastest candidate that fits the device, else the fastest.
struct Choice {
    double seconds = 0;
    bool fits = false;
    std::string scenario;
};
std::optional<Choice> choose(const MeasuredStep& step, const std::string& file,
                             const Predictor& predictor, std::string& why_not) {
    std::optional<Choice> best;
    for (const std::string& text : step.scenarios) {
        try {
            const auto scenario = scenarios::parse_scenario(text, file);
            const Prediction predicted = predictor(scenario);
            const Choice choice{predicted.step_time_s, predicted.fits, text};
            const auto rank = [](const Choice& c) { return std::pair(!c.fits, c.seconds); };
            if (!best || rank(choice) < rank(*best)) best = choice;
        } catch (const InputError& error) {
            why_not = error.diagnostics().front().message;
        }
    }
    return best;
}

double mean(const std::vector<double>& values) {
    return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

/// The rate whose mean absolute error is least: it is that of one of the rows, since the error is
/// piecewise monotone between them.
double fit_null(const std::vector<double>& rates) {
    const auto error_of = [&](double constant) {
        double sum = 0;
        for (const double rate : rates) sum += std::abs(rate / constant - 1);
        return sum;
    };
    return *std::ranges::min_element(rates, {}, error_of);
}

}  // namespace

ErrorSummary summarize(std::vector<double> errors) {
    assert(!errors.empty() && "errors cannot be summed up without any error");
    ErrorSummary summary;
    summary.bias = mean(errors);
    for (double& error : errors) error = std::abs(error);
    std::ranges::sort(errors);
    summary.mean = mean(errors);
    const std::size_t half = errors.size() / 2;
    summary.median = errors.size() % 2 == 1 ? errors[half] : (errors[half - 1] + errors[half]) / 2;
    summary.worst = errors.back();
    return summary;
}

CostValidation validate_cost(const MeasuredTable& table, const Predictor& predictor) {
    CostValidation validation;
    validation.table = table.name;
    std::vector<double> work;
    std::vector<double> rates;
    for (const MeasuredStep& step : table.steps) {
        std::string why_not = "no microbatch divides its batch";
        const auto choice =
            choose(step, fmt::format("{}:{}", table.name, step.line), predictor, why_not);
        if (!choice) {
            validation.skipped.push_back(fmt::format("line {}: {}", step.line, why_not));
            continue;
        }
        validation.rows.push_back(
            {step.line, step.label, step.seconds, choice->seconds, 0, choice->scenario});
        work.push_back(step.work);
        rates.push_back(step.work / step.seconds);
    }
    if (validation.rows.empty()) return validation;
    validation.null_flops_per_s = fit_null(rates);
    std::vector<double> errors;
    std::vector<double> null_errors;
    for (std::size_t i = 0; i < validation.rows.size(); ++i) {
        CostComparison& row = validation.rows[i];
        row.null_s = work[i] / validation.null_flops_per_s;
        errors.push_back(row.error());
        null_errors.push_back(row.null_error());
    }
    validation.prediction = summarize(errors);
    validation.null_model = summarize(null_errors);
    return validation;
}

std::string to_text(const CostValidation& validation) {
    std::string text = fmt::format("{:<42} {:>10} {:>10} {:>8} {:>8}\n", validation.table,
                                   "measured s", "predicted", "error", "null");
    for (const CostComparison& row : validation.rows)
        text +=
            fmt::format("{:<42} {:>10.3f} {:>10.3f} {:>+7.1f}% {:>+7.1f}%\n", row.label,
                        row.measured_s, row.predicted_s, 100 * row.error(), 100 * row.null_error());
    for (const std::string& line : validation.skipped) text += "left out: " + line + '\n';
    if (validation.rows.empty()) return text;
    const auto line = [](const ErrorSummary& e) {
        return fmt::format("mean {:.2f} %, median {:.2f} %, worst {:.1f} %, bias {:+.2f} %",
                           100 * e.mean, 100 * e.median, 100 * e.worst, 100 * e.bias);
    };
    text += fmt::format("{} rows: {}\n", validation.rows.size(), line(validation.prediction));
    text +=
        fmt::format("null model, {} per GPU: {}\n",
                    text::flop_rate_text(validation.null_flops_per_s), line(validation.null_model));
    return text;
}

std::string to_json(const CostValidation& validation) {
    const auto summary = [](const ErrorSummary& e) {
        return nlohmann::json{
            {"mean", e.mean}, {"median", e.median}, {"worst", e.worst}, {"bias", e.bias}};
    };
    nlohmann::json out{{"schema", "debubble/validate-cost"},
                       {"version", 1},
                       {"table", validation.table},
                       {"prediction", summary(validation.prediction)},
                       {"null_model", summary(validation.null_model)},
                       {"null_tflops_per_gpu", validation.null_flops_per_s / 1e12},
                       {"skipped", validation.skipped},
                       {"rows", nlohmann::json::array()}};
    for (const CostComparison& row : validation.rows)
        out["rows"].push_back({{"line", row.line},
                               {"label", row.label},
                               {"measured_s", row.measured_s},
                               {"predicted_s", row.predicted_s},
                               {"error", row.error()},
                               {"null_s", row.null_s}});
    return out.dump(2) + '\n';
}

}  // namespace debubble::sim
