#include "base/command_line/progress_line.h"

#include <memory>
#include <string>

#include <gtest/gtest.h>

namespace debubble {
namespace {

using std::chrono::milliseconds;

/// What a line writes while the test says how late it is.
class Written {
public:
    explicit Written(bool on_terminal)
        : line_(std::make_unique<ProgressLine>(file_, on_terminal, [this] { return now_; })) {}
    ~Written() { std::fclose(file_); }
    Written(const Written&) = delete;
    Written& operator=(const Written&) = delete;

    void show_at(milliseconds time, const std::string& words) {
        now_ = ProgressLine::Clock::time_point{} + time;
        line_->show(words);
    }
    void restart_at(milliseconds time) {
        now_ = ProgressLine::Clock::time_point{} + time;
        line_->restart();
    }
    void end() { line_.reset(); }
    std::string text() const {
        std::string all;
        std::rewind(file_);
        for (int c = std::fgetc(file_); c != EOF; c = std::fgetc(file_))
            all += static_cast<char>(c);
        return all;
    }

private:
    std::FILE* file_ = std::tmpfile();
    ProgressLine::Clock::time_point now_{};
    std::unique_ptr<ProgressLine> line_;
};

TEST(ProgressLine, OfATerminalIsWrittenInItsPlaceAfterASecond) {
    Written line(true);
    line.show_at(milliseconds(0), "0 of 9");
    line.show_at(milliseconds(999), "1 of 9");
    line.show_at(milliseconds(1000), "2 of 9");
    line.show_at(milliseconds(1050), "3 of 9");
    line.show_at(milliseconds(1100), "4 of 9");
    line.end();
    EXPECT_EQ(line.text(), "\r\033[K2 of 9\r\033[K4 of 9\r\033[K");
}

TEST(ProgressLine, OfALogIsAddedEveryTenSeconds) {
    Written line(false);
    line.show_at(milliseconds(9999), "1 of 9");
    line.show_at(milliseconds(10'000), "2 of 9");
    line.show_at(milliseconds(19'000), "3 of 9");
    line.show_at(milliseconds(21'000), "4 of 9");
    line.end();
    EXPECT_EQ(line.text(), "2 of 9\n4 of 9\n");
}

TEST(ProgressLine, OfManyShortPiecesOfWorkSaysNothing) {
    Written line(true);
    for (int piece = 1; piece < 9; ++piece) {
        line.show_at(milliseconds(900 * piece), "1 of 2");
        line.restart_at(milliseconds(900 * piece));
    }
    line.end();
    EXPECT_EQ(line.text(), "");
}

TEST(ProgressLine, OfShortWorkSaysNothing) {
    Written line(true);
    line.show_at(milliseconds(900), "9 of 9");
    line.end();
    EXPECT_EQ(line.text(), "");
}

}  // namespace
}  // namespace debubble
