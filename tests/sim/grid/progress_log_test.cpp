#include <cstdio>
#include <string>
#include <thread>

#include <gmock/gmock.h>

#include "sim/grid/progress_log.h"

namespace debubble::sim {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

std::string lines_of_log(std::FILE* log) {
    std::rewind(log);
    std::string text(1 << 12, '\0');
    text.resize(std::fread(text.data(), 1, text.size(), log));
    return text;
}

TEST(ProgressLog, WritesALineAtFixedTimesEvenIfNoPointIsDone) {
    std::FILE* const log = std::tmpfile();
    ASSERT_NE(log, nullptr);
    {
        ProgressLog progress(log, std::chrono::milliseconds(20));
        std::this_thread::sleep_for(std::chrono::milliseconds(150));
        EXPECT_THAT(lines_of_log(log), StartsWith("no point is done after 0 s\n"));
        progress.note(3, 8);
        progress.note(5, 8);
        std::this_thread::sleep_for(std::chrono::milliseconds(150));
    }
    EXPECT_THAT(lines_of_log(log), HasSubstr("\n5 of 8 points, "));
    std::fclose(log);
}

TEST(ProgressLog, OfAnHourEndsAtOnce) {
    std::FILE* const log = std::tmpfile();
    ASSERT_NE(log, nullptr);
    { ProgressLog progress(log, std::chrono::hours(1)); }
    EXPECT_EQ(lines_of_log(log), "");
    std::fclose(log);
}

TEST(ProgressWords, SayThePaceOfThisRunAndTheTimeLeft) {
    EXPECT_EQ(progress_words(50, 100, 0, 2), "50 of 100 points, 25/s, 2 s left");
    EXPECT_EQ(progress_words(50, 100, 40, 2), "50 of 100 points, 5/s, 10 s left");
    EXPECT_EQ(progress_words(40, 100, 40, 2), "40 of 100 points");
    EXPECT_EQ(progress_words(1, 1000, 0, 60), "1 of 1000 points, 0.0167/s, 16.6 h left");
}

}  // namespace
}  // namespace debubble::sim
