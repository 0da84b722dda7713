#include "sim/measured/accuracy_report.h"

#include <gmock/gmock.h>

namespace debubble::sim {
namespace {

using testing::HasSubstr;
using testing::Not;

MeasuredComparison row(const std::string& table, const std::string& name, double measured,
                       double predicted) {
    MeasuredComparison row;
    row.step.table = table;
    row.step.row = name;
    row.time = Compared{measured, predicted};
    return row;
}

std::size_t times(const std::string& text, const std::string& word) {
    std::size_t count = 0;
    for (auto at = text.find(word); at != std::string::npos; at = text.find(word, at + 1)) ++count;
    return count;
}

TEST(AccuracySvg, HasAMarkForEveryPredictedRowThatSaysWhichItIs) {
    AccuracyReport report;
    report.rows = {row("one", "a & b", 1, 1.1), row("two", "c", 10, 9), row("two", "d", 3, 3)};
    report.rows.push_back({});
    report.rows.back().unsaid = "an unknown key";
    const std::string svg = to_svg(report);
    EXPECT_EQ(times(svg, "<title>"), 3 + 2u) << "three rows, and two tables in the legend";
    EXPECT_THAT(svg, HasSubstr("one, a &amp; b: measured 1.000 s, predicted 1.100 s, +10.0 %"));
    EXPECT_THAT(svg, HasSubstr("3 steps"));
    EXPECT_THAT(svg, Not(HasSubstr("collective")));
    EXPECT_THAT(svg, Not(HasSubstr("nan")));
}

TEST(AccuracySvg, OfOneRowAndOfNoneIsAPicture) {
    AccuracyReport report;
    EXPECT_THAT(to_svg(report), HasSubstr("</svg>"));
    report.rows = {row("one", "a", 2, 2)};
    const std::string svg = to_svg(report);
    EXPECT_THAT(svg, HasSubstr("1 step<"));
    EXPECT_THAT(svg, Not(HasSubstr("nan")));
    EXPECT_THAT(svg, Not(HasSubstr("inf")));
}

}  // namespace
}  // namespace debubble::sim
