#include "gui/viewmodel/export.h"

#include <sstream>

#include <gmock/gmock.h>

#include "base/diagnostic.h"
#include "gui/viewmodel/source.h"
#include "trace/io/chrome_trace.h"

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

TEST(Export, changes_scenarios_only) {
    EXPECT_THROW((void)read_exhibit("no-such-scenario", {}), InputError);
}

TEST(Source, a_title_is_the_file_without_its_endings) {
    EXPECT_EQ(title_of("/a/b/gpt2-xl.yaml"), "gpt2-xl");
    EXPECT_EQ(title_of("run.trace.json"), "run");
}

}  // namespace
}  // namespace debubble::gui
