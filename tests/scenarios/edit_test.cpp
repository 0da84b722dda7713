#include "scenarios/read/edit.h"

#include <gmock/gmock.h>

#include "base/file.h"
#include "scenarios/read/scenario_tree.h"
#include "text/document.h"
#include "text/document_readers.h"

namespace debubble::scenarios {
namespace {

using testing::HasSubstr;

std::string changed(const std::string& text, const std::string& key, const std::string& value) {
    return with_key(text, "test.yaml", {key, value});
}

TEST(Edit, replaces_a_word_and_keeps_the_comment_behind_it) {
    EXPECT_EQ(changed("a: 1  # one\nb: 2\n", "a", "7"), "a: 7  # one\nb: 2\n");
    EXPECT_EQ(changed("a: {b: 1, c: 2}  # both\n", "a.b", "10"), "a: {b: 10, c: 2}  # both\n");
    EXPECT_EQ(changed("a: 'q # q'\n", "a", "z"), "a: z\n");
}

TEST(Edit, replaces_maps_and_lists_of_both_styles) {
    EXPECT_EQ(changed("a:\n  b: 1\n  c: 2\nd: 3\n", "a", "x"), "a: x\nd: 3\n");
    EXPECT_EQ(changed("a:\n- 1\n- 2\nd: 3\n", "a", "x"), "a: x\nd: 3\n");
    EXPECT_EQ(changed("a: [1, {b: 2}]\nd: 3\n", "a", "x"), "a: x\nd: 3\n");
}

TEST(Edit, adds_what_is_missing_where_its_map_ends) {
    EXPECT_EQ(changed("a: {b: 1}\nd: 3\n", "a.c", "2"), "a: {b: 1, c: 2}\nd: 3\n");
    EXPECT_EQ(changed("a:\n    b: 1  # one\nd: 3\n", "a.c", "2"),
              "a:\n    b: 1  # one\n    c: 2\nd: 3\n");
    EXPECT_EQ(changed("d: 3", "a.c", "2"), "d: 3\na: {c: 2}\n");
    EXPECT_EQ(changed("# nothing yet\n", "a", "2"), "# nothing yet\na: 2\n");
}

TEST(Edit, makes_the_long_form_of_a_short_one) {
    EXPECT_EQ(changed("schedule: 1f1b  # short\n", "schedule.slices", "2"),
              "schedule: {name: 1f1b, slices: 2}  # short\n");
}

TEST(Edit, fills_in_an_empty_value) {
    EXPECT_EQ(changed("a:\nb: 2\n", "a", "1"), "a: 1\nb: 2\n");
    EXPECT_EQ(changed("a: ~\nb: 2\n", "a", "1"), "a: 1\nb: 2\n");
}

TEST(Edit, gives_up_comments_rather_than_meaning) {
    const std::string text = "# lost\nx: &x {b: 1}\na: {<<: *x}\n";
    EXPECT_EQ(changed(text, "a.b", "2"), "x: {b: 1}\na: {b: 2}\n");
}

TEST(Edit, of_every_shipped_scenario_reads_back_as_set_would_have_it) {
    const std::vector<Override> changes{{"parallel.tensor", "4"},
                                        {"parallel.data", "auto"},
                                        {"schedule", "zb-h1"},
                                        {"schedule.slices", "2"},
                                        {"training.micro_batch", "3"},
                                        {"nodes", "~"},
                                        {"training.optimizer", "sgd"},
                                        {"model", "gpt2"},
                                        {"framework", "megatron-2024"},
                                        {"parallel", "{pipeline: 2}"},
                                        {"training.precision.compute", "fp16"}};
    for (const std::string& name : shipped_scenarios()) {
        const std::string text = read_file(find_scenario(name));
        for (const Override& change : changes) {
            const auto wanted = with_overrides(text::parse_yaml(text, name), {change});
            const std::string edited = with_key(text, name, change);
            EXPECT_EQ(text::to_flow(*text::parse_yaml(edited, name)), text::to_flow(*wanted))
                << name << ' ' << change.first;
            const auto comments = [](const std::string& s) { return std::ranges::count(s, '#'); };
            if (change.first == "schedule" || change.first == "parallel.tensor") {
                EXPECT_EQ(comments(edited), comments(text)) << name << ' ' << change.first;
            }
        }
    }
}

TEST(Written, is_found_in_the_file_and_in_what_it_includes) {
    const std::string text = "include: gpt2-xl\nparallel: {tensor: 4}\n";
    EXPECT_EQ(written_at(text, "t.yaml", "parallel.tensor"), "4");
    EXPECT_EQ(written_at(text, "t.yaml", "parallel.pipeline"), "2");
    EXPECT_EQ(written_at(text, "t.yaml", "schedule.name"), "1f1b");
    EXPECT_EQ(written_at(text, "t.yaml", "parallel.zero_stage"), std::nullopt);
}

TEST(Changes, between_two_texts_make_the_second_of_the_first) {
    const std::string before = read_file(find_scenario("gpt2-xl"));
    std::string after = before;
    const std::vector<Override> changes{{"parallel.tensor", "4"},
                                        {"schedule", "{name: seq-1f1b, slices: 4}"},
                                        {"training.optimizer.lr", "1e-3"},
                                        {"parallel.zero_stage", "1"},
                                        {"training.micro_batches", "~"}};
    for (const Override& change : changes) after = with_key(after, "t.yaml", change);
    Scenario set = parse_scenario(before, "t.yaml", changes_between(before, after, "t.yaml"));
    const Scenario written = parse_scenario(after, "t.yaml");
    EXPECT_EQ(set.parallel, written.parallel);
    EXPECT_EQ(set.schedule.name, written.schedule.name);
    EXPECT_EQ(set.schedule.slices, written.schedule.slices);
    EXPECT_EQ(set.training.run, written.training.run);
    EXPECT_EQ(set.training.micro_batches, written.training.micro_batches);
    EXPECT_TRUE(changes_between(before, before, "t.yaml").empty());
}

TEST(KeyAt, names_the_key_that_a_mistake_stands_at) {
    const std::string text = "model: gpt2\nparallel: {tensor: 2, pipeline: 3}\n";
    EXPECT_EQ(key_at(text, "t.yaml", 1, 8), "model");
    EXPECT_EQ(key_at(text, "t.yaml", 2, 20), "parallel.tensor");
    EXPECT_EQ(key_at(text, "t.yaml", 2, 33), "parallel.pipeline");
}

}  // namespace
}  // namespace debubble::scenarios
