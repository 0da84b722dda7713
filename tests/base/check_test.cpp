#include "base/check.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "base/command_line/exit_status.h"

namespace debubble {
namespace {

/// The line is that of the caller's check.
std::string defect_at(int line) {
    return fmt::format(
        "debubble has a defect at tests/base/check_test.cpp:{}: three ranks have come, but "
        "`ranks == 3` is false",
        line);
}

TEST(ACheck, NamesItsPlaceItsSentenceAndItsCondition) {
    const int ranks = 2;
    const int line = __LINE__ + 2;
    try {
        DEBUBBLE_CHECK(ranks == 3, "three ranks have come");
        FAIL() << "it is on in every build";
    } catch (const Defect& defect) {
        EXPECT_EQ(defect.what(), defect_at(line));
    }
}

TEST(ACheck, MakesItsSentenceOnlyIfItFails) {
    int made = 0;
    const auto sentence = [&] { return fmt::format("sentence {}", ++made); };
    EXPECT_NO_THROW(DEBUBBLE_CHECK(made == 0, sentence()));
    EXPECT_EQ(made, 0);
    EXPECT_THROW(DEBUBBLE_CHECK(made == 1, sentence()), Defect);
    EXPECT_EQ(made, 1);
}

TEST(ACheck, EndsTheProgramWithCode3AndAsksForAReport) {
    const int ranks = 2;
    const int line = __LINE__ + 2;
    try {
        DEBUBBLE_CHECK(ranks == 3, "three ranks have come");
        FAIL() << "it is on in every build";
    } catch (const Defect&) {
        const Ending ending = ending_of(std::current_exception());
        EXPECT_EQ(ending.status, ExitStatus::World);
        EXPECT_EQ(ending.message, "internal error, please report it: " + defect_at(line) + "\n");
    }
}

}  // namespace
}  // namespace debubble
