#include <chrono>
#include <filesystem>

#include <unistd.h>

#include <fmt/format.h>
#include <gmock/gmock.h>

#include "base/diagnostic.h"
#include "base/file.h"
#include "gui/viewmodel/opened.h"
#include "gui/viewmodel/run/run_folders.h"
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

/// A run of the window starts from the first step, and would replace the checkpoints in the folder
/// of a real training.
TEST(RunWords, save_checkpoints_in_the_folder_of_the_run) {
    const ScenarioText source{
        "include: two-rank-gpt\ntraining: {checkpoint: {dir: mine, every: 5}}\n",
        (fs::temp_directory_path() / "debubble-run-words.yaml").string()};
    write_file(source.file, source.text);
    const std::string own = "training.checkpoint.dir=\"/out/checkpoints\"";
    EXPECT_THAT(run_words(source, {"/out"}, 0), Contains(own));
    // A change of the text does not restore a folder that only the text names.
    const auto changed = with_change(source, "training.checkpoint.dir", "other");
    const auto words = run_words(changed, {"/out"}, 0);
    EXPECT_THAT(words, Contains(own));
    EXPECT_THAT(words, Not(Contains(HasSubstr("other"))));
    fs::remove(source.file);
    EXPECT_THAT(run_words(shipped("gpt2-xl"), {"/out"}, 0), Not(Contains(HasSubstr("checkpoint"))));
}

/// A place with folders of runs "00", "01", ... of which the last is the newest.
class RunFolders : public testing::Test {
protected:
    void SetUp() override {
        place = fs::temp_directory_path() / fmt::format("debubble-runs-{}", ::getpid());
        fs::remove_all(place);
        fs::create_directories(place / "mine");
    }
    void TearDown() override { fs::remove_all(place); }

    fs::path run(int number) const { return place / fmt::format("{:02}", number); }
    RunInUse make(int number) const {
        RunInUse made(run(number));
        write_file(run(number) / "metrics.jsonl", "{}");
        fs::create_directories(run(number) / "checkpoints/step-1");
        const auto mark = run(number) / "debubble-run.lock";
        fs::last_write_time(mark, fs::file_time_type{} + std::chrono::hours(number));
        return made;
    }
    std::vector<std::string> left() const {
        std::vector<std::string> names;
        for (const auto& entry : fs::directory_iterator(place))
            names.push_back(entry.path().filename().string());
        std::ranges::sort(names);
        return names;
    }

    fs::path place;
};

TEST_F(RunFolders, of_old_runs_are_removed_with_all_that_is_in_them) {
    for (const int number : {3, 0, 4, 2, 1}) make(number);
    EXPECT_EQ(prune_runs(place, 2), 3U);
    EXPECT_THAT(left(), testing::ElementsAre("03", "04", "mine"));
    EXPECT_EQ(prune_runs(place, 2), 0U);
    EXPECT_EQ(prune_runs(place / "none"), 0U);
}

TEST_F(RunFolders, in_use_stay_however_old_they_are) {
    std::vector<RunInUse> used;
    for (int number = 0; number < 4; ++number) {
        RunInUse made = make(number);
        if (number == 0) used.push_back(std::move(made));
    }
    EXPECT_EQ(prune_runs(place, 1), 2U);
    EXPECT_THAT(left(), testing::ElementsAre("00", "03", "mine"));
    used.clear();
    EXPECT_EQ(prune_runs(place, 1), 1U);
    EXPECT_THAT(left(), testing::ElementsAre("03", "mine"));
}

TEST_F(RunFolders, that_the_window_did_not_make_stay) {
    make(0);
    make(1);
    write_file(place / "mine/notes.txt", "mine");
    write_file(place / "file", "mine");
    const fs::path outside = place.string() + "-outside";
    RunInUse{outside};
    fs::create_directory_symlink(outside, place / "link");
    EXPECT_EQ(prune_runs(place, 0), 2U);
    EXPECT_THAT(left(), testing::ElementsAre("file", "link", "mine"));
    EXPECT_TRUE(fs::exists(outside / "debubble-run.lock"));
    fs::remove_all(outside);
}

TEST_F(RunFolders, that_cannot_be_made_are_a_failure_of_the_world) {
    write_file(place / "00", "a file where the folder should be");
    EXPECT_THROW(RunInUse{run(0)}, WorldError);
}

TEST(Metrics, are_read_however_the_file_is_cut) {
    const std::string file =
        "{\"schema\":\"debubble/metrics\",\"version\":1,\"first_step\":1}\n"
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

TEST(Opening, two_plans_of_other_programs_are_compared_by_sums_and_not_as_errors) {
    const Opened opened = open_all({"gpt2-xl-gpipe", "gpt2-xl-zb-v"}, {});
    ASSERT_EQ(opened.traces.size(), 2);
    EXPECT_THAT(opened.comparison, HasSubstr("all passes"));
    EXPECT_THAT(opened.comparison, Not(HasSubstr("error")));
}

class Unsaved : public testing::Test {
protected:
    void SetUp() override { fs::remove_all(place); }
    void TearDown() override { fs::remove_all(place); }
    /// A text left by a window whose process has ended.
    void leave(const std::string& name, const std::string& text) const {
        write_file(place / name, "{\"file\": \"/a/b.yaml\", \"text\": \"" + text + "\"}");
    }
    const fs::path place =
        fs::temp_directory_path() / ("debubble-unsaved-" + std::to_string(::getpid()));
    UnsavedFolder folder{place};
};

TEST_F(Unsaved, of_a_window_that_runs_is_nobody_elses) {
    folder.keep({"text", "a.yaml"});
    EXPECT_THAT(folder.find_left(), IsEmpty());
    EXPECT_THAT(UnsavedFolder(place).find_left(), IsEmpty());
    folder.forget();
    EXPECT_TRUE(fs::is_empty(place));
}

TEST_F(Unsaved, of_a_window_that_ended_is_found_whole) {
    const ScenarioText source{"text: \"quoted\"\n", "/a/b.yaml"};
    {
        UnsavedFolder window(place);
        window.keep(source);
    }
    const auto left = folder.find_left();
    ASSERT_EQ(left.size(), 1);
    EXPECT_EQ(left[0].source, source);
    UnsavedFolder::forget_left(left[0]);
    EXPECT_TRUE(fs::is_empty(place));
}

/// After a reboot, another process may have the number of the process that kept the text. Process 1
/// runs.
TEST_F(Unsaved, is_left_whatever_process_has_the_number_now) {
    leave("unsaved-1.json", "old");
    write_file(place / "unsaved-1.lock", "");
    ASSERT_EQ(folder.find_left().size(), 1);
    EXPECT_EQ(folder.find_left()[0].source.text, "old");
}

TEST_F(Unsaved, that_is_damaged_is_removed_and_somebody_elses_file_stays) {
    write_file(place / "unsaved-2.json", "{\"text\": 7");
    write_file(place / "notes.json", "somebody's");
    EXPECT_THAT(folder.find_left(), IsEmpty());
    EXPECT_FALSE(fs::exists(place / "unsaved-2.json"));
    EXPECT_TRUE(fs::exists(place / "notes.json"));
}

TEST_F(Unsaved, recovering_one_text_leaves_the_others) {
    leave("unsaved-1.json", "older");
    leave("unsaved-2.json", "newer");
    fs::last_write_time(place / "unsaved-1.json",
                        fs::last_write_time(place / "unsaved-2.json") - std::chrono::hours(1));
    const auto left = folder.find_left();
    ASSERT_EQ(left.size(), 2);
    EXPECT_EQ(left[0].source.text, "newer");
    UnsavedFolder::forget_left(left[0]);
    ASSERT_EQ(folder.find_left().size(), 1);
    EXPECT_EQ(folder.find_left()[0].source.text, "older");
}

}  // namespace
}  // namespace debubble::gui
