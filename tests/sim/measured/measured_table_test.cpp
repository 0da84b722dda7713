#include "sim/measured/measured_table.h"

#include <gmock/gmock.h>

#include "base/diagnostic.h"

namespace debubble::sim {
namespace {

std::vector<MeasuredStep> steps_of(const std::string& text) {
    std::vector<MeasuredStep> steps;
    read_measured(text, "table.jsonl", steps);
    return steps;
}

std::string refusal_of(const std::string& text) {
    try {
        steps_of(text);
    } catch (const InputError& error) {
        return error.what();
    }
    return "it was accepted";
}

TEST(MeasuredTable, HasAWholeScenarioPerLine) {
    const auto steps = steps_of(
        R"({"row": "a", "source": "s", "scenario": {"model": "gpt2-xl"}, "measured": {"step_s": 2.5}})"
        "\n\n"
        R"({"row": "b", "source": "s", "scenario": {}, "measured": {"tflops_per_gpu": 400, )"
        R"("peak_gib": 30.5, "peak_gib_kind": "allocated, last rank"}, "notes": "n"})");
    ASSERT_EQ(steps.size(), 2u);
    EXPECT_EQ(steps[0].table, "table");
    EXPECT_EQ(steps[0].row, "a");
    EXPECT_DOUBLE_EQ(steps[0].step_s.value(), 2.5);
    EXPECT_EQ(steps[0].scenario->get("model")->scalar, "gpt2-xl");
    EXPECT_EQ(steps[1].line, 3);
    EXPECT_FALSE(steps[1].step_s);
    EXPECT_DOUBLE_EQ(steps[1].peak->gib, 30.5);
    EXPECT_EQ(steps[1].peak->kind, MeasuredPeak::Kind::Allocated);
    EXPECT_EQ(steps[1].peak->of, MeasuredPeak::Of::LastRank);
}

MeasuredPeak peak_of(const std::string& kind) {
    return *steps_of(
                R"({"row": "a", "scenario": {}, "measured": {"peak_gib": 1, "peak_gib_kind": ")" +
                kind + "\"}}")[0]
                .peak;
}

TEST(MeasuredTable, ComparesNoPeakWhoseKindIsNotStated) {
    using Kind = MeasuredPeak::Kind;
    EXPECT_EQ(peak_of("reserved, max over ranks").kind, Kind::Reserved);
    EXPECT_EQ(peak_of("allocated").of, MeasuredPeak::Of::AnyRank);
    EXPECT_EQ(peak_of("allocated, rank 0, after iteration 2").of, MeasuredPeak::Of::FirstRank);
    EXPECT_EQ(peak_of("peak of one run, allocated or reserved not stated").kind, Kind::Unknown);
    EXPECT_EQ(peak_of("not stated").kind, Kind::Unknown);
    EXPECT_EQ(peak_of("allocated, rank 0, until out of memory").kind, Kind::Unknown);
    const MeasuredPeak first = peak_of("allocated, rank 0, after iteration 1, then out of memory");
    EXPECT_EQ(first.kind, Kind::Allocated);
    EXPECT_TRUE(first.first_step);
    EXPECT_FALSE(peak_of("allocated, rank 0, the largest after iteration 2").first_step);
}

TEST(MeasuredTable, PointsAtEveryBadLine) {
    EXPECT_EQ(
        refusal_of(R"({"row": "a", "scenario": {}, "measured": {"step_s": 1}})"
                   "\n{\"row\": \"b\",\n"
                   R"({"row": "c", "scenario": {}, "measured": {"step_s": -1}})"),
        "table.jsonl:2:13: error: JSON: syntax error while parsing object key - unexpected end "
        "of input; expected string literal\n"
        "  {\"row\": \"b\",\n"
        "              ^\n"
        "table.jsonl:3:53: error: 'step_s' must be at least 1e-12, not -1\n"
        "  {\"row\": \"c\", \"scenario\": {}, \"measured\": {\"step_s\": -1}}\n"
        "                                                      ^\n");
}

TEST(MeasuredTable, WantsARowAScenarioAndAFigure) {
    EXPECT_THAT(refusal_of("{}"),
                testing::AllOf(testing::HasSubstr("'row'"), testing::HasSubstr("'scenario'"),
                               testing::HasSubstr("'measured'")));
    EXPECT_THAT(refusal_of(R"({"row": "a", "scenario": {}, "measured": {}})"),
                testing::HasSubstr("no measured figure"));
    EXPECT_THAT(refusal_of(R"({"row": "a", "scenario": [1], "measured": {"step_s": 1}})"),
                testing::HasSubstr("a scenario is a map"));
    EXPECT_THAT(refusal_of(R"({"row": "a", "scenario": {}, "measured": {"step_a": 1}})"),
                testing::HasSubstr("did you mean 'step_s'"));
    EXPECT_THAT(refusal_of(" \n"), testing::HasSubstr("no rows"));
    EXPECT_THAT(refusal_of("[1]"), testing::HasSubstr("table.jsonl:1:1"));
}

}  // namespace
}  // namespace debubble::sim
