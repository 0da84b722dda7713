#include "gui/viewmodel/what_if/remedies.h"

#include <gmock/gmock.h>

#include "gui/viewmodel/what_if/answer.h"
#include "gui/viewmodel/what_if/zoo.h"
#include "schedule/generators/generators.h"
#include "tests/gui/viewmodel/shipped.h"

namespace debubble::gui {
namespace {

TEST(Remedies, are_single_changes_after_which_the_plan_fits_the_fastest_first) {
    const ScenarioText tight = with_change(shipped("gpt2-xl"), "cluster.gpu.memory", "8 GiB");
    const Answer now = answer(tight);
    ASSERT_TRUE(now.plan);
    ASSERT_FALSE(now.plan->prediction.fits);
    const std::vector<Remedy> found = remedies(tight, now.plan->prediction);
    ASSERT_FALSE(found.empty());
    EXPECT_LE(found.size(), kMostRemedies);
    double before = 0;
    for (const Remedy& remedy : found) {
        const Answer then = answer(with_change(tight, remedy.key, remedy.value));
        ASSERT_TRUE(then.plan) << remedy.words;
        EXPECT_TRUE(then.plan->prediction.fits) << remedy.words;
        EXPECT_EQ(then.plan->prediction.step_time_s, remedy.step_time_s) << remedy.words;
        EXPECT_GE(remedy.step_time_s, before);
        EXPECT_THAT(remedy.words, testing::HasSubstr("GiB, step "));
        before = remedy.step_time_s;
    }
}

TEST(Remedies, of_an_impossible_plan_are_changes_that_make_it_possible) {
    const ScenarioText source = with_change(shipped("gpt2-xl"), "parallel.tensor", "3");
    const Answer now = answer(source);
    ASSERT_FALSE(now.plan);
    for (const Remedy& remedy : remedies(source, {}))
        EXPECT_TRUE(answer(with_change(source, remedy.key, remedy.value)).plan) << remedy.words;
}

TEST(Zoo, has_every_schedule_once_those_that_fit_by_their_step) {
    const ScenarioText source = shipped("gpt2-xl-1f1b");
    const std::vector<ZooRow> rows = schedule_zoo(source);
    ASSERT_EQ(rows.size(), generators().size());
    for (std::size_t i = 0; i < rows.size(); ++i) {
        const ZooRow& row = rows[i];
        EXPECT_EQ(row.present, row.schedule == "1f1b") << row.schedule;
        if (!row.possible()) continue;
        const Answer alone = answer(with_schedule(source, row));
        ASSERT_TRUE(alone.plan) << row.schedule;
        EXPECT_EQ(alone.plan->prediction.step_time_s, row.step_s) << row.schedule;
        EXPECT_EQ(alone.plan->prediction.fits, row.fits);
        EXPECT_EQ(row.picture.light.size(), 4U) << "a line for each rank";
        if (i == 0) continue;
        EXPECT_TRUE(rows[i - 1].possible()) << "those that cannot be had are last";
        if (rows[i - 1].fits == row.fits) {
            EXPECT_LE(rows[i - 1].step_s, row.step_s);
        }
    }
}

}  // namespace
}  // namespace debubble::gui
