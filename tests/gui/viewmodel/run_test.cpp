#include <filesystem>

#include <unistd.h>

#include <gmock/gmock.h>

#include "base/file.h"
#include "gui/viewmodel/opened.h"
#include "gui/viewmodel/run/run_plan.h"
#include "gui/viewmodel/unsaved.h"
#include "gui/viewmodel/what_if/field.h"
#include "tests/gui/viewmodel/shipped.h"

namespace debubble::gui {
namespace {

namespace fs = std::filesystem;
using testing::Contains;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

TEST(RunWords, name_the_file_and_what_the_text_changes_of_it) {
    const ScenarioText source = with_change(shipped("gpt2-xl"), "parallel.tensor", "4");
    const auto words = run_words(source, {"/out"}, 5);
    EXPECT_EQ(words[0], "run");
    EXPECT_EQ(words[1], source.file);
    EXPECT_THAT(words, Contains("parallel.tensor=4"));
    EXPECT_THAT(words, Contains("/out/metrics.jsonl"));
    EXPECT_THAT(run_words(shipped("gpt2-xl"), {"/out"}, 0), Not(Contains("--set")));
}

TEST(Metrics, are_read_however_the_file_is_cut) {
    const std::string file =
        "{\"step\":1,\"loss\":4.5,\"tokens_per_s\":100}\n"
        "{\"step\":1,\"eval_loss\":4.4}\n"
        "not json\n"
        "{\"step\":2,\"loss\":4.25,\"tokens_per_s\":110}\n"
        "{\"step\":3,\"loss\":4.0,";
    for (std::size_t cut = 0; cut <= file.size(); ++cut) {
        MetricsReader reader;
        reader.add(file.substr(0, cut));
        reader.add(file.substr(cut));
        ASSERT_EQ(reader.steps().size(), 2) << cut;
        EXPECT_EQ(reader.steps()[1].step, 2);
        EXPECT_EQ(reader.steps()[1].loss, 4.25);
    }
}

TEST(Opening, tells_mistakes_instead_of_throwing) {
    EXPECT_THAT(open_all({"no-such-scenario"}, {}).mistakes, Not(IsEmpty()));
    EXPECT_THAT(open_all({"a", "b", "c"}, {}).mistakes, Not(IsEmpty()));
    EXPECT_TRUE(open_all({"gpt2-xl"}, {"parallel.tensor=4"}).scenario);
}

TEST(Opening, two_plans_of_other_programs_are_shown_and_their_errors_refused) {
    const Opened opened = open_all({"gpt2-xl-gpipe", "gpt2-xl-zb-v"}, {});
    ASSERT_EQ(opened.traces.size(), 2);
    EXPECT_THAT(opened.comparison, HasSubstr("cannot be shown"));
}

class Unsaved : public testing::Test {
protected:
    void SetUp() override { fs::remove_all(place); }
    void TearDown() override { fs::remove_all(place); }
    const fs::path place =
        fs::temp_directory_path() / ("debubble-unsaved-" + std::to_string(::getpid()));
    UnsavedFolder folder{place};
};

TEST_F(Unsaved, of_a_living_process_is_nobody_elses) {
    folder.keep({"text", "a.yaml"});
    EXPECT_FALSE(folder.find_left());
    folder.forget();
    EXPECT_TRUE(fs::is_empty(place));
}

TEST_F(Unsaved, of_a_dead_process_is_found_and_what_is_damaged_is_removed) {
    folder.keep({"text: \"quoted\"\n", "/a/b.yaml"});
    for (const auto& file : fs::directory_iterator(place))
        fs::rename(file.path(), place / "unsaved-2147483646.json");
    write_file(place / "unsaved-2147483645.json", "{\"text\": 7");
    write_file(place / "notes.json", "somebody's");
    const auto left = folder.find_left();
    ASSERT_TRUE(left);
    EXPECT_EQ(*left, (ScenarioText{"text: \"quoted\"\n", "/a/b.yaml"}));
    EXPECT_FALSE(fs::exists(place / "unsaved-2147483645.json"));
    folder.forget_left();
    EXPECT_FALSE(folder.find_left());
    EXPECT_TRUE(fs::exists(place / "notes.json"));
}

}  // namespace
}  // namespace debubble::gui
