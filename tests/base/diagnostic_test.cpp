#include "base/diagnostic.h"

#include <gtest/gtest.h>

namespace debubble {
namespace {

TEST(Diagnostic, ShowsThePlaceTheLineAndACaret) {
    EXPECT_EQ(render({{"m.yaml", 3, 8}, "'heads' must divide 'hidden'", "heads: 7"}),
              "m.yaml:3:8: error: 'heads' must divide 'hidden'\n"
              "  heads: 7\n"
              "         ^\n");
}

TEST(Diagnostic, WithoutALineNamesTheFileAlone) {
    EXPECT_EQ(render({{"m.yaml", 0, 0}, "no such file", ""}), "m.yaml: error: no such file\n");
    EXPECT_EQ(render({{}, "6 layers cannot fill 8 stages", ""}),
              "error: 6 layers cannot fill 8 stages\n");
}

TEST(Diagnostic, KeepsTheCaretUnderTheColumnOfALineTooLongToShow) {
    const std::string line(1000, 'x');
    const std::string text = render({{"f", 1, 900}, "here", line});
    const auto caret_line = text.substr(text.rfind('\n', text.size() - 2) + 1);
    EXPECT_LT(text.size(), 600u);
    EXPECT_EQ(caret_line.back(), '\n');
    EXPECT_EQ(caret_line[caret_line.size() - 2], '^');
}

TEST(InputError, ListsMistakesInReadingOrder) {
    const InputError error({{{"f", 2, 1}, "second", "b"}, {{"f", 1, 1}, "first", "a"}});
    ASSERT_EQ(error.diagnostics().size(), 2u);
    EXPECT_EQ(error.diagnostics()[0].message, "first");
}

TEST(LineOf, FindsLinesAndIgnoresTheirEnds) {
    EXPECT_EQ(line_of("a\r\nb\n", 1), "a");
    EXPECT_EQ(line_of("a\nb", 2), "b");
    EXPECT_EQ(line_of("a\nb", 3), "");
}

TEST(DidYouMean, GuessesOnlyWhatIsNear) {
    const std::vector<std::string> known{"tensor", "pipeline", "data"};
    EXPECT_EQ(did_you_mean("tensr", known), "tensor");
    EXPECT_EQ(did_you_mean("zzz", known), std::nullopt);
}

}  // namespace
}  // namespace debubble
