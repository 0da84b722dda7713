#include "sim/zoo.h"

#include <gmock/gmock.h>

#include "scenarios/read/read_scenario.h"
#include "sim/predict.h"

namespace debubble::sim {
namespace {

/// Each row is what `simulate` says of the schedule, though the zoo plays each plan once and few of
/// the allocators.
TEST(Zoo, has_the_figures_that_a_prediction_of_each_schedule_has) {
    const scenarios::ScenarioTemplate plan("gpt2-xl");
    ZooRequest request;
    request.present = "1f1b";
    request.plan_with = [&](const std::string& schedule, int stages) {
        return plan.instantiate(
            {{"schedule", schedule}, {"parallel.stages_per_rank", std::to_string(stages)}});
    };
    const std::vector<ZooRow> rows = schedule_zoo(request);
    std::size_t possible = 0;
    for (const ZooRow& row : rows) {
        EXPECT_EQ(row.present, row.schedule == "1f1b");
        if (!row.possible()) continue;
        ++possible;
        const PredictionWithTrace whole =
            predict(request.plan_with(row.schedule, row.stages_per_rank));
        EXPECT_EQ(row.step_s, whole.prediction.step_time_s) << row.schedule;
        EXPECT_EQ(row.bubble, whole.prediction.bubble) << row.schedule;
        EXPECT_EQ(row.fits, whole.prediction.fits) << row.schedule;
        EXPECT_EQ(row.picture.light.size(), whole.prediction.ranks.size()) << row.schedule;
        for (const std::vector<std::uint32_t>& line : row.picture.light)
            EXPECT_EQ(line.size(), static_cast<std::size_t>(row.picture.width));
    }
    EXPECT_GT(possible, 8U);
}

}  // namespace
}  // namespace debubble::sim
