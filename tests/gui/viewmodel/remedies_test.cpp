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
        const Answer then = answer(with_remedy(tight, remedy));
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
        EXPECT_TRUE(answer(with_remedy(source, remedy)).plan) << remedy.words;
}

TEST(Remedies, of_a_cut_that_leaves_gpus_idle_keep_the_batch) {
    ScenarioText source = with_change(shipped("gpt2-xl-1f1b"), "gpus", "8");
    source = with_change(source, "parallel.tensor", "4");
    ASSERT_FALSE(answer(source).plan) << "sixteen ranks of eight GPUs";
    const std::vector<Remedy> found = remedies(source, {});
    ASSERT_FALSE(found.empty());
    for (const Remedy& remedy : found) {
        const Answer then = answer(with_remedy(source, remedy));
        ASSERT_TRUE(then.plan) << remedy.words;
        EXPECT_EQ(then.plan->scenario.training.global_batch, 64) << remedy.words;
    }
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

TEST(Zoo, puts_pinned_schedules_first_and_compares_the_others_with_the_first_of_them) {
    std::vector<ZooRow> rows(3);
    for (std::size_t i = 0; i < rows.size(); ++i) {
        rows[i].schedule = std::string(1, char('a' + i));
        rows[i].step_s = 1.0 + 0.1 * double(i);
    }
    EXPECT_THAT(pinned_first(rows, {"c", "a"}), testing::ElementsAre(2, 0, 1));
    EXPECT_THAT(pinned_first(rows, {"nobody"}), testing::ElementsAre(0, 1, 2));
    EXPECT_EQ(step_words(rows[1], rows, {}), "1.100 s");
    EXPECT_EQ(step_words(rows[1], rows, {"a"}), "1.100 s, +10.0 %");
    EXPECT_EQ(step_words(rows[0], rows, {"a"}), "1.000 s");
}

TEST(SmallTimeline, has_the_colours_of_what_each_column_covers) {
    Trace trace;
    const auto span = [](int rank, int from, int to, Pass pass) {
        Span one;
        one.rank = Rank{rank};
        one.action = Compute{pass, Stage{rank}, MicroBatch{0, {}}};
        one.begin = Instant{Duration{from}};
        one.end = Instant{Duration{to}};
        return one;
    };
    trace.spans = {span(0, 0, 40, Pass::Forward), span(1, 40, 80, Pass::Backward)};
    const SmallTimeline small = small_timeline(sim::small_bars(trace.spans), Duration{100}, 10);
    ASSERT_EQ(small.light.size(), 2U);
    const auto colour = [](Paint paint) {
        const Rgb rgb = kLightPalette[paint];
        return 0xff000000U | unsigned(rgb.red) << 16U | unsigned(rgb.green) << 8U | rgb.blue;
    };
    EXPECT_EQ(small.light[0][0], colour(Paint::Forward));
    EXPECT_EQ(small.light[0][5], colour(Paint::Bubble));
    EXPECT_EQ(small.light[1][5], colour(Paint::Backward));
    EXPECT_EQ(small.light[0][8], small.light[1][9]) << "after the step";
    EXPECT_NE(small.light[0][8], colour(Paint::Bubble));
}

}  // namespace
}  // namespace debubble::gui
