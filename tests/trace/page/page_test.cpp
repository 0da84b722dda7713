#include "trace/page/page.h"

#include <gmock/gmock.h>

#include "schedule/generators/generators.h"
#include "tests/trace/trace_of.h"
#include "trace/page/columns.h"
#include "trace/page/encode.h"

namespace debubble::page {
namespace {

using testing::HasSubstr;
using testing::Not;

TEST(Column, takes_seven_bits_a_byte_the_lowest_first) {
    Column column;
    column.add(127);
    column.add(300);
    column.add_signed(-1);
    column.add_signed(64);
    EXPECT_EQ(column.bytes(), std::string("\x7f\xac\x02\x01\x80\x01", 6));
    EXPECT_EQ(column.count(), 4U);
}

TEST(Base64, is_that_of_rfc_4648) {
    EXPECT_EQ(base64(""), "");
    EXPECT_EQ(base64("f"), "Zg==");
    EXPECT_EQ(base64("fo"), "Zm8=");
    EXPECT_EQ(base64("foo"), "Zm9v");
    EXPECT_EQ(base64("foob"), "Zm9vYg==");
    EXPECT_EQ(base64("fooba"), "Zm9vYmE=");
    EXPECT_EQ(base64("foobar"), "Zm9vYmFy");
}

TEST(Html, shows_every_letter_as_text) {
    EXPECT_EQ(escaped("</script><b a='\"'>&\x1b"),
              "&lt;/script&gt;&lt;b a=&#39;&quot;&#39;&gt;&amp;\\x1b");
}

Page page_of(int micro_batches, const std::string& title) {
    const PipelineShape shape{8, 1, micro_batches, 1};
    PipelineCosts costs = unit_costs(std::chrono::milliseconds(10));
    costs.link = std::chrono::microseconds(300);
    const Trace trace = trace_of(generate("1f1b", shape), costs);
    Page page;
    page.title = title;
    page.documents = {picture::make_document(trace, {})};
    return page;
}

TEST(Page, is_the_same_for_the_same_trace) {
    EXPECT_EQ(page_html(page_of(16, "one")), page_html(page_of(16, "one")));
}

TEST(Page, shows_hostile_titles_as_text) {
    const std::string html = page_html(page_of(4, "</title><script>alert(1)</script>"));
    EXPECT_THAT(html, Not(HasSubstr("<script>alert")));
    EXPECT_THAT(html, HasSubstr("&lt;script&gt;alert(1)"));
}

TEST(Page, takes_a_few_bytes_an_action) {
    const std::size_t short_one = page_html(page_of(16, "one")).size();
    Page page = page_of(1024, "one");
    const std::size_t actions = page.documents.front()->trace.spans.size();
    EXPECT_GT(actions, 40'000U);
    EXPECT_LT(page_html(page).size() - short_one, 4 * actions);
}

}  // namespace
}  // namespace debubble::page
