#include "gui/viewmodel/copied.h"

#include <filesystem>

#include <gmock/gmock.h>

#include "base/file.h"
#include "gui/viewmodel/what_if/field.h"
#include "tests/gui/viewmodel/shipped.h"

namespace debubble::gui {
namespace {

TEST(Copied, a_shipped_scenario_has_its_name_and_what_was_changed_of_it) {
    const ScenarioText source = shipped("gpt2-xl-1f1b");
    EXPECT_EQ(command_for(on_screen::Plan{}, source), "debubble simulate gpt2-xl-1f1b");
    EXPECT_EQ(command_for(on_screen::Plan{}, with_change(source, "schedule", "zb-h1")),
              "debubble simulate gpt2-xl-1f1b --set schedule=zb-h1");
    const std::string cluster =
        command_for(on_screen::Plan{}, with_change(source, "cluster.gpu.memory", "8 GiB"));
    EXPECT_THAT(cluster, testing::StartsWith("debubble simulate gpt2-xl-1f1b --set 'cluster"));
    EXPECT_THAT(cluster, testing::HasSubstr("dgx-a100-80gb")) << "the cluster that it changes";
    EXPECT_THAT(cluster, testing::HasSubstr("8 GiB"));
    EXPECT_EQ(command_for(on_screen::Nothing{}, source), "");
}

TEST(Copied, a_file_of_ones_own_is_quoted_for_the_shell) {
    const auto file = std::filesystem::temp_directory_path() / "it's mine.yaml";
    write_file(file, shipped("gpt2-xl").text);
    const ScenarioText source{read_file(file), file.string()};
    const std::string line = command_for(on_screen::Plan{}, source);
    EXPECT_THAT(line, testing::HasSubstr("it'\\''s mine.yaml'"));
    std::filesystem::remove(file);
}

}  // namespace
}  // namespace debubble::gui
