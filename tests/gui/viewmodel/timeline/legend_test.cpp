#include <sstream>

#include <gmock/gmock.h>

#include "tests/gui/viewmodel/timeline/drawn.h"
#include "trace/picture/legend.h"
#include "trace/picture/shapes/svg.h"
#include "trace/picture/wording.h"

namespace debubble::gui {
namespace {

using testing::Not;

TEST(Legend, NamesWhatOccursAndTheShareOfEveryCause) {
    const Drawn shown(document_of(plan("gpipe", 2, 4)));
    std::ostringstream out;
    write_svg(page(shown.timeline, shown.view), shown.view.geometry.width,
              shown.view.geometry.height, out);
    const std::string text = out.str();
    for (const char* words : {">forward (F)<", ">backward (B, I)<", ">idle 20.0 %:<",
                              ">stage 10.0 %<", ">cool-down 6.7 %<", ">warm-up 3.3 %<"})
        EXPECT_THAT(text, testing::HasSubstr(words));
    for (const char* words : {"weight gradient", ">live<", ">link "})
        EXPECT_THAT(text, Not(testing::HasSubstr(words)));
}

TEST(Legend, NamesBothSidesOfAComparisonAndWhatTellsThemApart) {
    const auto titled = [](const char* subtitle) {
        Trace trace = plan("1f1b", 2, 4);
        Statistics of_trace = statistics(trace);
        return make_document(std::move(trace), std::move(of_trace), {}, {},
                             {{"plan: step 1 s", subtitle}});
    };
    Drawn shown(titled("2 x A100; 1f1b"), 1600);
    shown.timeline.other = {titled("2 x A100; gpipe"), shown.timeline.main.colouring, {}};
    shown.timeline.comparison = true;
    std::vector<std::string> words;
    for (const Shape& shape : head_shapes(shown.timeline, shown.view))
        if (const auto* text = std::get_if<Text>(&shape)) words.push_back(text->words);
    EXPECT_THAT(words,
                testing::IsSupersetOf({"A: plan: step 1 s (1f1b)", "B: plan: step 1 s (gpipe)"}));
    EXPECT_EQ(only_in("a; b; c", "b"), "a; c");
    EXPECT_EQ(only_in("", ""), "");
}

TEST(Legend, IsNeverWiderThanThePicture) {
    for (const int width : {220, 400, 800, 1600}) {
        const Drawn shown(document_of(plan("zb-h1", 4, 8)), width);
        for (const Sheet& sheet : surroundings(shown.timeline, shown.view))
            for (const Shape& shape : sheet.shapes)
                if (const auto* area = std::get_if<Area>(&shape)) {
                    EXPECT_LE(area->rect.right(), width);
                }
    }
}

}  // namespace
}  // namespace debubble::gui
