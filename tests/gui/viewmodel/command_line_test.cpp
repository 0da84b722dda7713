#include "gui/viewmodel/command_line.h"

#include <gmock/gmock.h>

#include "base/diagnostic.h"

namespace debubble::gui {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

std::string complaint_about(const std::vector<std::string>& words) {
    try {
        (void)read_command_line(words);
    } catch (const InputError& error) {
        return error.what();
    }
    return "";
}

TEST(CommandLineOfTheWindow, takes_files_and_changes) {
    const CommandLine line = read_command_line({"a.yaml", "--set", "schedule=gpipe", "b.json"});
    EXPECT_THAT(line.files, ElementsAre("a.yaml", "b.json"));
    EXPECT_THAT(line.set, ElementsAre("schedule=gpipe"));
    EXPECT_FALSE(line.export_to);
}

TEST(CommandLineOfTheWindow, leaves_the_options_of_qt_and_their_values_alone) {
    const CommandLine line = read_command_line({"-platform", "offscreen", "a.yaml"});
    EXPECT_THAT(line.files, ElementsAre("a.yaml"));
}

TEST(CommandLineOfTheWindow, takes_the_size_of_a_picture) {
    const CommandLine line = read_command_line({"--export", "a.png", "--size", "1280x720", "x"});
    EXPECT_EQ(line.size, (PictureSize{1280, 720}));
    for (const char* wrong : {"1280", "1280x", "1280x720x3", "-5x9", "10x10", "99999x720", "axb"})
        EXPECT_THAT(complaint_about({"--export", "a.png", "--size", wrong, "x"}),
                    HasSubstr("is not a picture size"))
            << wrong;
}

TEST(CommandLineOfTheWindow, suggests_the_option_that_was_meant) {
    EXPECT_THAT(complaint_about({"--exprt=a.svg", "x"}), HasSubstr("did you mean '--export'?"));
}

TEST(CommandLineOfTheWindow, tells_all_mistakes_at_once) {
    const std::string complaint = complaint_about({"--wrong", "--export", "picture.bmp"});
    EXPECT_THAT(complaint, HasSubstr("'--wrong'"));
    EXPECT_THAT(complaint, HasSubstr("needs a scenario or a trace"));
    EXPECT_THAT(complaint, HasSubstr(".svg, .csv, .json, .png, .pdf"));
}

TEST(CommandLineOfTheWindow, wants_a_value_where_one_is_missing) {
    EXPECT_THAT(complaint_about({"a.yaml", "--export"}), HasSubstr("--export needs a value"));
}

}  // namespace
}  // namespace debubble::gui
