#include "gui/widgets/main_window.h"

#include <gmock/gmock.h>
#include <QFontInfo>

namespace debubble::gui {
namespace {

TEST(Fonts, are_those_that_pixels_are_compared_with) {
    EXPECT_EQ(QFontInfo(QFont("DejaVu Sans")).family(), "DejaVu Sans");
}

TEST(Window, names_what_it_shows) {
    MainWindow window;
    CommandLine line;
    line.files = {"gpt2-xl"};
    window.open(line);
    EXPECT_TRUE(window.windowTitle().contains("gpt2-xl"));
}

}  // namespace
}  // namespace debubble::gui
