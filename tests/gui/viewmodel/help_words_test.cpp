#include "gui/viewmodel/help_words.h"

#include <algorithm>

#include <gtest/gtest.h>

#include "schedule/generators/generators.h"
#include "trace/statistics.h"

namespace debubble::gui {
namespace {

TEST(Help, explains_every_cause_of_a_bubble_and_has_every_schedule) {
    const std::vector<HelpWord> words = help_words();
    for (std::size_t i = 0; i < kBubbleCauses; ++i) {
        const std::string cause(wording_of(static_cast<BubbleCause>(i)));
        EXPECT_NE(std::ranges::find(words, cause, &HelpWord::word), words.end()) << cause;
    }
    for (const HelpWord& of : words) EXPECT_FALSE(of.meaning.empty()) << of.word;
    EXPECT_EQ(help_schedules().size(), generators().size());
    EXPECT_EQ(std::ranges::count(program_version(), '.'), 2);
}

}  // namespace
}  // namespace debubble::gui
