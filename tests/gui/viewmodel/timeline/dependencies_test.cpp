#include "trace/picture/document/dependencies.h"

#include <gmock/gmock.h>

#include "tests/gui/viewmodel/timeline/plans.h"

namespace debubble::gui {
namespace {

using std::chrono::microseconds;
using std::chrono::milliseconds;
using Texts = std::vector<std::string>;

Texts texts_of(const TimelineDocument& document, const std::vector<std::uint32_t>& spans) {
    Texts texts;
    for (const std::uint32_t i : spans) texts.push_back(to_text(document.span(i).action));
    std::ranges::sort(texts);
    return texts;
}

std::uint32_t span_of(const TimelineDocument& document, std::string_view text) {
    for (std::uint32_t i = 0; i < document.trace.spans.size(); ++i)
        if (to_text(document.span(i).action) == text) return i;
    ADD_FAILURE() << text;
    return 0;
}

TEST(Dependencies, GoFromComputeToComputeAcrossALink) {
    const Document document = document_of(plan("1f1b", 4, 6, milliseconds(1), microseconds(100)));
    const std::uint32_t span = span_of(*document, "1F2");
    EXPECT_EQ(texts_of(*document, direct_needs(*document, span)), (Texts{"0F2", "1F1"}));
    EXPECT_THAT(texts_of(*document, direct_users(*document, span)), testing::Contains("2F2"));
}

/// Without links the trace holds no messages, and computes depend on computes by themselves.
TEST(Dependencies, AreThoseOfAPlanWhoseLinksTakeNoTime) {
    for (const char* name : {"gpipe", "1f1b", "zb-h1"}) {
        const Document direct = document_of(plan(name, 4, 6));
        const Document linked = document_of(plan(name, 4, 6, milliseconds(1), Duration{1}));
        for (std::uint32_t i = 0; i < direct->trace.spans.size(); ++i) {
            const std::string text = to_text(direct->span(i).action);
            const std::uint32_t other = span_of(*linked, text);
            EXPECT_EQ(texts_of(*direct, direct_needs(*direct, i)),
                      texts_of(*linked, direct_needs(*linked, other)))
                << name << ' ' << text;
            EXPECT_EQ(texts_of(*direct, direct_users(*direct, i)),
                      texts_of(*linked, direct_users(*linked, other)))
                << name << ' ' << text;
        }
    }
}

}  // namespace
}  // namespace debubble::gui
