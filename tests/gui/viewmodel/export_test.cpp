#include "gui/viewmodel/export.h"

#include <algorithm>
#include <sstream>

#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

#include "base/diagnostic.h"
#include "gui/viewmodel/source.h"
#include "gui/viewmodel/what_if/field.h"
#include "tests/gui/viewmodel/shipped.h"
#include "trace/io/trace_formats.h"

namespace debubble::gui {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

TEST(Export, writes_a_trace_that_reads_back_the_same) {
    const Exhibit exhibit = read_exhibit("gpt2-xl", {"schedule=zb-h1"});
    const std::string json = exported(exhibit, ExportFormat::Json);
    EXPECT_EQ(read_chrome_trace(json, "exported.json"), exhibit.trace);
}

TEST(Export, writes_one_row_per_action_as_csv) {
    const Exhibit exhibit = read_exhibit("gpt2-xl", {});
    const std::string csv = exported(exhibit, ExportFormat::Csv);
    EXPECT_EQ(std::ranges::count(csv, '\n'), exhibit.trace.spans.size() + 1);
}

TEST(Export, the_picture_says_what_it_shows) {
    const std::string svg = exported(read_exhibit("gpt2-xl", {}), ExportFormat::Svg);
    EXPECT_THAT(svg, StartsWith("<"));
    EXPECT_THAT(svg, HasSubstr("gpt2-xl"));
}

TEST(Export, a_page_is_one_file_with_its_script_and_data) {
    const std::string page = exported(read_exhibit("gpt2-xl", {}), ExportFormat::Html);
    EXPECT_THAT(page, StartsWith("<!DOCTYPE html>"));
    EXPECT_THAT(page, HasSubstr("<title>gpt2-xl"));
    EXPECT_THAT(page, HasSubstr("id=\"data\""));
}

TEST(Export, changes_scenarios_only) {
    EXPECT_THROW((void)read_exhibit("no-such-scenario", {}), InputError);
}

class ComparisonOnScreen : public testing::Test {
protected:
    static Shown predicted(const ScenarioText& source, const char* name) {
        const auto plan = answer(source).plan;
        return {plan->document, name, plan};
    }
    static Screen comparison(const ScenarioText& a, const ScenarioText& b) {
        const Opened both = open_both(predicted(a, "first, new"), predicted(b, "second"));
        return on_screen::Comparison{both.compares, both.traces[0], both.traces[1], both.pairing,
                                     both.comparison};
    }
    const ScenarioText upper = shipped("gpt2-xl-1f1b");
    const ScenarioText lower = with_change(upper, "schedule", "gpipe");
};

TEST_F(ComparisonOnScreen, is_written_as_a_page_with_both) {
    const std::string page = exported(comparison(upper, lower), ExportFormat::Html);
    EXPECT_THAT(page, HasSubstr("1f1b"));
    EXPECT_THAT(page, HasSubstr("gpipe"));
}

TEST_F(ComparisonOnScreen, is_written_as_svg_with_both_panels) {
    const std::string svg = exported(comparison(upper, lower), ExportFormat::Svg);
    EXPECT_THAT(svg, HasSubstr("1f1b"));
    EXPECT_THAT(svg, HasSubstr("gpipe"));
}

TEST_F(ComparisonOnScreen, is_written_as_csv_with_the_rows_of_both) {
    const Screen screen = comparison(upper, lower);
    const auto& both = std::get<on_screen::Comparison>(screen);
    const std::string csv = exported(screen, ExportFormat::Csv);
    EXPECT_THAT(csv, StartsWith("trace,rank,"));
    const auto rows = [&](std::string_view name) {
        std::size_t count = 0;
        for (std::size_t at = 0; (at = csv.find(name, at)) != std::string::npos; ++at) ++count;
        return count;
    };
    EXPECT_EQ(rows("\n\"first, new\","), both.a.document->trace.spans.size());
    EXPECT_EQ(rows("\nsecond,"), both.b.document->trace.spans.size());
    EXPECT_EQ(std::size_t(std::ranges::count(csv, '\n')),
              1 + both.a.document->trace.spans.size() + both.b.document->trace.spans.size());
}

TEST_F(ComparisonOnScreen, is_written_as_json_with_the_figures_of_both) {
    const Screen same = comparison(upper, with_change(upper, "training.seq_length", "512"));
    const auto& both = std::get<on_screen::Comparison>(same);
    const auto json = nlohmann::json::parse(exported(same, ExportFormat::Json));
    const auto step = [&](const char* side) {
        return json.at(side).at("step_time_s").get<double>();
    };
    EXPECT_NEAR(step("simulated"), both.a.plan->prediction.step_time_s, 1e-6);
    EXPECT_NEAR(step("executed"), both.b.plan->prediction.step_time_s, 1e-6);
    EXPECT_NE(step("simulated"), step("executed"));
    // Different programs have no pairs to compare.
    EXPECT_THROW((void)exported(comparison(upper, lower), ExportFormat::Json), InputError);
}

TEST(ExportOfTheScreen, needs_something_on_it) {
    EXPECT_THROW((void)exported(Screen{}, ExportFormat::Svg), InputError);
    EXPECT_THROW(
        (void)exported(Screen{on_screen::Plan{"a.yaml", nullptr, nullptr}}, ExportFormat::Csv),
        InputError);
}

TEST(Source, a_title_is_the_file_without_its_endings) {
    EXPECT_EQ(title_of("/a/b/gpt2-xl.yaml"), "gpt2-xl");
    EXPECT_EQ(title_of("run.trace.json"), "run");
}

}  // namespace
}  // namespace debubble::gui
