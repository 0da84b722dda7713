#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <filesystem>

#include <fmt/format.h>
#include <gmock/gmock.h>

#include "base/diagnostic.h"
#include "base/file.h"
#include "scenarios/read_scenario.h"
#include "sim/report/validate_cost.h"

/// Predicted beside measured training steps, where the measurements are: the folder that
/// DEBUBBLE_MEASURED_DIR names. Bounds are percent of absolute error.
namespace debubble::sim {
namespace {

struct Goal {
    const char* file;
    double mean;
    double median;
};

class MeasuredCost : public testing::TestWithParam<Goal> {};

Prediction quick(const scenarios::Scenario& scenario) {
    PredictOptions options;
    options.keep_trace = false;
    options.only_where_it_decides = true;
    return predict(scenario, options).prediction;
}

TEST_P(MeasuredCost, IsPredictedBetterThanByOneConstant) {
    const char* folder = std::getenv("DEBUBBLE_MEASURED_DIR");
    if (folder == nullptr) GTEST_SKIP() << "DEBUBBLE_MEASURED_DIR names no measurements";
    const auto path = std::filesystem::path(folder) / GetParam().file;
    if (!std::filesystem::exists(path)) GTEST_SKIP() << path << " does not exist";
    const MeasuredTable table = read_measured(read_file(path), path.string());
    const CostValidation validation = validate_cost(table, quick);
    fmt::print("{}", to_text(validation));
    ASSERT_EQ(validation.rows.size(), table.steps.size());
    EXPECT_LE(100 * validation.prediction.mean, GetParam().mean);
    EXPECT_LE(100 * validation.prediction.median, GetParam().median);
    EXPECT_LT(validation.prediction.mean, validation.null_model.mean);
    double sum = 0;  // the runs without the slow outliers: tensor 8 with a pipeline
    int count = 0;
    for (std::size_t i = 0; i < table.steps.size(); ++i) {
        if (table.steps[i].tensor != 8 || table.steps[i].pipeline == 1) continue;
        sum += std::abs(validation.rows[i].error());
        ++count;
    }
    if (count >= 10) {
        EXPECT_LE(100 * sum / count, 3);
    }
}

/// A row without a microbatch stands for several; one of them ran.
TEST_P(MeasuredCost, SaysThatWhatRanFits) {
    const char* folder = std::getenv("DEBUBBLE_MEASURED_DIR");
    if (folder == nullptr) GTEST_SKIP() << "DEBUBBLE_MEASURED_DIR names no measurements";
    const auto path = std::filesystem::path(folder) / GetParam().file;
    if (!std::filesystem::exists(path)) GTEST_SKIP() << path << " does not exist";
    for (const MeasuredStep& step : read_measured(read_file(path), path.string()).steps)
        EXPECT_TRUE(std::ranges::any_of(step.scenarios, [&](const std::string& text) {
            try {
                return quick(scenarios::parse_scenario(text, path.string())).fits;
            } catch (const InputError&) {  // this microbatch does not divide the batch
                return false;
            }
        })) << step.label;
}

INSTANTIATE_TEST_SUITE_P(Tables, MeasuredCost,
                         testing::Values(Goal{"a100_multi_node.csv", 7.5, 4},
                                         Goal{"selene_weak_scaling.csv", 5, 5},
                                         Goal{"selene_recompute.csv", 5.5, 5.5}),
                         [](const auto& goal) {
                             return std::filesystem::path(goal.param.file).stem().string();
                         });

}  // namespace
}  // namespace debubble::sim
