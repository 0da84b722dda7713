#include <algorithm>
#include <cmath>
#include <filesystem>

#include <fmt/format.h>
#include <gmock/gmock.h>

#include "base/file.h"
#include "sim/measured/accuracy_report.h"
#include "tests/support/source_folder.h"

/// Predicted and measured training steps: tables of bench/measured. Bounds are percent of
/// absolute error.
namespace debubble::sim {
namespace {

struct Goal {
    const char* file;
    double mean;
    double median;
    std::vector<scenarios::Override> overrides = {};
};

class PublishedSteps : public testing::TestWithParam<Goal> {
protected:
    void SetUp() override {
        const auto path =
            std::filesystem::path(source_folder()) / "bench/measured" / GetParam().file;
        std::vector<MeasuredStep> steps;
        read_measured(read_file(path), path.string(), steps);
        report.rows = compare_measured(steps, GetParam().overrides, 1,
                                       [&](const scenarios::Scenario& scenario, bool reserved) {
                                           PredictOptions options;
                                           options.keep_trace = false;
                                           options.only_where_it_decides = !reserved;
                                           return predict(scenario, options).prediction;
                                       });
        fit_null_models(report.rows);
    }
    AccuracyReport report;
};

TEST_P(PublishedSteps, ArePredictedBetterThanByOneConstant) {
    std::vector<const MeasuredComparison*> rows;
    for (const MeasuredComparison& row : report.rows) {
        EXPECT_FALSE(row.unsaid) << row.step.row << ": " << *row.unsaid;
        rows.push_back(&row);
    }
    const AccuracySummary all = summarize(rows);
    EXPECT_LE(100 * all.time.mean, GetParam().mean);
    EXPECT_LE(100 * all.time.median, GetParam().median);
    EXPECT_LT(all.time.mean, all.null_model.mean);
}

/// The runs without the slow outliers of the A100 table: tensor 8 with a pipeline.
TEST_P(PublishedSteps, ArePredictedWithinThreePercentInPipelinesOfWholeNodes) {
    std::vector<double> errors;
    for (const MeasuredComparison& row : report.rows) {
        const auto degree = [&](const char* key) {
            return text::at(row.step.scenario, key)->scalar;
        };
        if (row.time && degree("parallel.tensor") == "8" && degree("parallel.pipeline") != "1")
            errors.push_back(row.time->error());
    }
    if (errors.size() < 10) GTEST_SKIP() << "the table has too few of them";
    EXPECT_LE(100 * summarize(errors).mean, 3);
}

/// Whatever ran has to fit: each row, or one of the plans that it may stand for.
TEST_P(PublishedSteps, SaysThatWhatRanFits) {
    for (const MeasuredComparison& row : report.rows)
        EXPECT_TRUE(row.fits || !row.time) << row.step.row;
}

/// The chunks of sc21's interleaved rows are not stated; with the fastest number of them, which is
/// the most that fits, they are predicted 8 % too fast (docs/accuracy.md). As 1F1B they have one
/// chunk.
INSTANTIATE_TEST_SUITE_P(Tables, PublishedSteps,
                         testing::Values(Goal{"vtrain.jsonl", 7.5, 4},
                                         Goal{"sc21.jsonl", 5, 5, {{"schedule", "1f1b"}}},
                                         Goal{"selene.jsonl", 5.5, 5.5}),
                         [](const auto& goal) {
                             return std::filesystem::path(goal.param.file).stem().string();
                         });

}  // namespace
}  // namespace debubble::sim
