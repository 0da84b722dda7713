#include "sim/grid/compare_plans.h"

#include <gmock/gmock.h>

namespace debubble::sim {
namespace {

using testing::HasSubstr;

const std::vector<std::string> kSweptKeys{"parallel.tensor", "training.micro_batch"};

/// A plan that fits, of a million tokens a step.
SweepRow row_of(std::vector<std::string> values, double step_s, double low, double high) {
    SweepRow row;
    row.values = std::move(values);
    row.fits = true;
    PlanFigures& figures = row.figures.emplace();
    figures["step_time_s"] = step_s;
    figures["tokens_per_s"] = 1e6 / step_s;
    if (low > 0) figures["step_time_low_s"] = step_s * low;
    if (high > 0) figures["step_time_high_s"] = step_s * high;
    return row;
}

NotApart not_apart(const std::vector<SweepRow>& rows) {
    std::vector<const SweepRow*> fastest;
    for (const SweepRow& row : rows) fastest.push_back(&row);
    return not_apart_from_best(fastest, kSweptKeys);
}

TEST(NotApart, ArePlansWhoseRangesOverlapWithTheBest) {
    const std::vector<SweepRow> rows{row_of({"1", "1"}, 1.00, 0.9, 1.1),
                                     row_of({"2", "1"}, 1.20, 0.9, 1.1),
                                     row_of({"4", "1"}, 1.23, 0.9, 1.1)};
    EXPECT_EQ(not_apart(rows).plans, 1u);  // 1.08 and 1.107 s against 1.1
    ASSERT_EQ(not_apart(rows).worth_measuring.size(), 2u);
    EXPECT_EQ(not_apart(rows).worth_measuring.back(), &rows[1]);
}

TEST(NotApart, AreWorthMeasuringWhereTheyAreCutOtherwise) {
    const std::vector<SweepRow> rows{
        row_of({"1", "1"}, 1.00, 0.9, 1.1), row_of({"1", "2"}, 1.01, 0.9, 1.1),
        row_of({"2", "1"}, 1.02, 0.9, 1.1), row_of({"4", "1"}, 1.03, 0.9, 1.1),
        row_of({"8", "1"}, 1.04, 0.9, 1.1)};
    const NotApart found = not_apart(rows);
    EXPECT_EQ(found.plans, 4u);
    EXPECT_EQ(found.worth_measuring, (std::vector<const SweepRow*>{&rows[0], &rows[2], &rows[3]}));
    const std::string text = not_apart_text(found, kSweptKeys, "of the 5 plans that fit");
    EXPECT_THAT(text, HasSubstr("4 others of the 5 plans that fit cannot be told from the best"));
    EXPECT_THAT(text,
                HasSubstr("  1.02 s (0.918 to 1.122): parallel.tensor=2; training.micro_batch=1"));
}

TEST(NotApart, IsUnknownWhereNoStepWasMeasured) {
    const std::vector<SweepRow> rows{row_of({"1", "1"}, 1, 0, 0), row_of({"2", "1"}, 1, 0, 0)};
    EXPECT_EQ(not_apart(rows).plans, 0u);
    EXPECT_EQ(not_apart_text(not_apart(rows), kSweptKeys, "plans"), "");
    EXPECT_EQ(not_apart({}).plans, 0u);
}

}  // namespace
}  // namespace debubble::sim
