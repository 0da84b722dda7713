#include <atomic>
#include <future>
#include <map>
#include <string>

#include <gmock/gmock.h>

#include "gui/viewmodel/latest_wins.h"
#include "gui/viewmodel/what_if/answer.h"
#include "gui/viewmodel/what_if/figures.h"
#include "gui/viewmodel/what_if/history.h"
#include "schedule/generators/generators.h"
#include "tests/gui/viewmodel/shipped.h"

namespace debubble::gui {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Pair;

const Field& field(const Answer& answer, const std::string& key) {
    const auto found = std::ranges::find(answer.fields, key, &Field::key);
    if (found == answer.fields.end()) throw std::runtime_error("no field " + key);
    return *found;
}

const FieldChoice& choice(const Field& field, const std::string& value) {
    const auto found = std::ranges::find(field.choices, value, &FieldChoice::value);
    if (found == field.choices.end()) throw std::runtime_error("no choice " + value);
    return *found;
}

TEST(WhatIf, every_field_shows_what_the_scenario_says) {
    const Answer answer = gui::answer(shipped("gpt2-xl"));
    ASSERT_TRUE(answer.plan);
    EXPECT_EQ(field(answer, "model").value, "gpt2-xl-colossal");
    EXPECT_EQ(field(answer, "gpus").value, "8");
    EXPECT_EQ(field(answer, "parallel.tensor").value, "2");
    EXPECT_EQ(field(answer, "schedule").value, "1f1b");
    EXPECT_EQ(field(answer, "training.recompute").value, "full");
    EXPECT_EQ(field(answer, "training.global_batch").value, "384");
    EXPECT_TRUE(field(answer, "training.global_batch").follows);
    EXPECT_FALSE(field(answer, "training.micro_batches").follows);
}

TEST(WhatIf, the_first_plan_that_is_shown_is_1f1b_with_plain_bubbles) {
    const Answer answer = gui::answer(shipped(kFirstExample));
    ASSERT_TRUE(answer.plan);
    EXPECT_EQ(field(answer, "schedule").value, "1f1b");
    EXPECT_GT(answer.plan->prediction.bubble, 0.15);
}

TEST(WhatIf, greys_impossible_schedules_with_the_generators_own_reason) {
    const ScenarioText source = with_change(shipped("gpt2-xl"), "training.micro_batches", "1");
    const Answer answer = gui::answer(source);
    const Field& schedules = field(answer, "schedule");
    EXPECT_EQ(schedules.choices.size(), generators().size());
    ASSERT_TRUE(answer.plan);
    for (const FieldChoice& schedule : schedules.choices) {
        // Every offered choice is possible, and no other.
        const Answer chosen = gui::answer(with_change(source, "schedule", schedule.value));
        EXPECT_EQ(chosen.plan != nullptr, !schedule.why_not)
            << schedule.value << ": " << schedule.why_not.value_or("offered");
    }
    EXPECT_TRUE(choice(schedules, "dualpipe").why_not);
}

/// Typing the stages first would give an impossible plan in between.
TEST(WhatIf, a_schedule_in_v_shape_is_offered_whatever_is_written_and_sets_its_stages_per_rank) {
    const ScenarioText source = with_change(shipped("gpt2-xl"), "parallel.stages_per_rank", "1");
    const Answer before = gui::answer(source);
    ASSERT_TRUE(before.plan);
    for (const char* name : {"1f1b-v", "zb-v", "v-half", "v-min", "dualpipe-v"}) {
        const auto grey = choice(field(before, "schedule"), name).why_not;
        EXPECT_FALSE(grey) << name << ": " << *grey;
        const ScenarioText chosen = with_change(source, "schedule", name);
        const Answer answer = gui::answer(chosen);
        ASSERT_TRUE(answer.plan) << name << ": " << answer.mistakes.front().message;
        EXPECT_EQ(field(answer, "parallel.stages_per_rank").value, "2");
        // Back to a schedule of one stage per rank, which sets one.
        const ScenarioText back = with_change(chosen, "schedule", "1f1b");
        EXPECT_EQ(field(gui::answer(back), "parallel.stages_per_rank").value, "1");
        EXPECT_TRUE(gui::answer(back).plan);
    }
}

TEST(WhatIf, a_schedule_that_needs_more_stages_than_there_are_layers_is_grey) {
    const ScenarioText source{"include: gpt2-xl\nparallel: {partition: [24, 24]}\n", "a.yaml"};
    const Answer before = gui::answer(source);
    ASSERT_TRUE(before.plan) << before.mistakes.front().message;
    EXPECT_TRUE(choice(field(before, "schedule"), "zb-v").why_not);
    EXPECT_FALSE(gui::answer(with_change(source, "schedule", "zb-v")).plan);
}

TEST(WhatIf, values_are_told_from_a_text_that_is_not_a_possible_scenario) {
    const ScenarioText source = with_change(shipped("gpt2-xl"), "parallel.tensor", "3");
    const Answer answer = gui::answer(with_change(source, "schedule", "{name: gpipe}"));
    ASSERT_FALSE(answer.plan);
    EXPECT_EQ(answer.written.at("parallel.tensor"), "3");
    EXPECT_EQ(answer.written.at("schedule"), "gpipe");
    EXPECT_FALSE(answer.written.contains("parallel.context"));
    EXPECT_TRUE(gui::answer({"model: [gpt2\n", "broken.yaml"}).written.empty());
}

TEST(WhatIf, every_field_that_is_written_is_told_from_the_text) {
    for (const char* name : {"gpt2-xl", "mixtral-8x22b", "gpt3-175b"}) {
        const ScenarioText source = shipped(name);
        const auto written = written_fields(source);
        for (const Field& field : gui::answer(source).fields) {
            if (field.follows) continue;
            ASSERT_TRUE(written.contains(field.key)) << name << ' ' << field.key;
            EXPECT_EQ(written.at(field.key), field.value) << name << ' ' << field.key;
        }
    }
}

TEST(WhatIf, expert_parallelism_is_for_models_with_experts) {
    const Answer dense = gui::answer(shipped("gpt2-xl"));
    EXPECT_FALSE(field(dense, "parallel.context").why_not);
    EXPECT_TRUE(field(dense, "parallel.expert").why_not);
    const ScenarioText mixtral = shipped("mixtral-8x22b");
    const Answer answer = gui::answer(mixtral);
    EXPECT_FALSE(field(answer, "parallel.expert").why_not);
    EXPECT_EQ(field(answer, "parallel.expert").value, "8");
    EXPECT_EQ(field(answer, "parallel.expert_tensor").value, "2");
    EXPECT_TRUE(field(dense, "training.expert_load").why_not);
    const Answer fewer = gui::answer(with_change(mixtral, "parallel.expert", "4"));
    ASSERT_TRUE(fewer.plan);
    EXPECT_EQ(fewer.plan->scenario.parallel.expert, 4);
}

TEST(WhatIf, takes_back_what_would_contradict_the_change) {
    EXPECT_THAT(changes_for(shipped("gpt2-xl"), "nodes", "2"),
                ElementsAre(Pair("gpus", "~"), Pair("nodes", "2")));
    EXPECT_THAT(
        changes_for(shipped("gpt2-xl"), "training.global_batch", "64"),
        ElementsAre(Pair("training.micro_batches", "~"), Pair("training.global_batch", "64")));
    const Answer answer =
        gui::answer(with_change(shipped("gpt2-xl"), "training.global_batch", "64"));
    ASSERT_TRUE(answer.plan);
    EXPECT_EQ(answer.plan->scenario.training.global_batch, 64);
}

TEST(WhatIf, every_suggestion_of_every_field_is_understood) {
    const ScenarioText source = shipped("gpt3-175b");
    for (const Field& field : gui::answer(source).fields)
        for (const FieldChoice& choice : field.choices) {
            const ScenarioText changed = with_change(source, field.key, choice.value);
            try {
                (void)scenarios::parse_scenario(changed.text, changed.file);
            } catch (const InputError& error) {  // impossible, but not unknown
                EXPECT_THAT(error.what(), testing::Not(HasSubstr("unknown")))
                    << field.key << '=' << choice.value;
            }
        }
}

TEST(WhatIf, explains_an_impossible_plan_next_to_the_field_that_causes_it) {
    const ScenarioText source = with_change(shipped("gpt2-xl"), "parallel.tensor", "3");
    const Answer before = gui::answer(shipped("gpt2-xl"));
    const Answer answer = gui::answer(source);
    ASSERT_FALSE(answer.plan);
    ASSERT_THAT(answer.mistakes, testing::Not(IsEmpty()));
    EXPECT_THAT(answer.mistakes[0].message, HasSubstr("3"));
    EXPECT_EQ(field_of(answer.mistakes[0], source, before.fields, "parallel.tensor"),
              "parallel.tensor");
    EXPECT_EQ(field_of(answer.mistakes[0], source, before.fields, ""), "gpus");  // typed
}

TEST(WhatIf, a_mistake_without_a_place_belongs_to_what_was_changed_last) {
    const Answer before = gui::answer(shipped("gpt2-xl"));
    EXPECT_EQ(field_of({{}, "impossible", {}}, before.source, before.fields, "schedule"),
              "schedule");
}

TEST(WhatIf, a_text_that_is_no_yaml_has_located_mistakes) {
    const Answer answer = gui::answer({"model: [gpt2\n", "broken.yaml"});
    ASSERT_THAT(answer.mistakes, testing::Not(IsEmpty()));
    EXPECT_EQ(answer.mistakes[0].where.file, "broken.yaml");
    EXPECT_GT(answer.mistakes[0].where.line, 0);
}

sim::Prediction prediction(double step, double bubble, double peak_gib, bool fits) {
    sim::Prediction p;
    p.step_time_s = step;
    p.bubble = bubble;
    p.fits = fits;
    p.ranks.emplace_back().peak_memory = {static_cast<std::int64_t>(peak_gib * kGiB)};
    return p;
}

TEST(Delta, says_step_bubble_peak_and_whether_it_fits) {
    const auto before = prediction(1, 0.331, 88, false);
    EXPECT_EQ(delta_line(before, prediction(0.927, 0.17, 80, true)),
              "step -7.3 %, bubble 33.1 -> 17.0 %, peak 88.0 -> 80.0 GiB, fits now");
    EXPECT_EQ(delta_line(before, before), "no change");
    EXPECT_EQ(delta_line(before, prediction(1.5, 0.331, 88, false)),
              "step +50.0 %, bubble 33.1 %, peak 88.0 GiB, does not fit");
}

TEST(Delta, says_where_nobody_can_tell_whether_it_fits) {
    const auto before = prediction(1, 0.331, 78, true);
    auto now = before;
    now.memory_verdict = sim::MemoryVerdict::CannotBeTold;
    EXPECT_EQ(delta_line(before, now),
              "step +0.0 %, bubble 33.1 %, peak 78.0 GiB, fits within the error");
    EXPECT_EQ(delta_line(now, now), "no change");
}

TEST(Summary, says_what_is_reserved_and_left) {
    sim::Prediction p = prediction(1, 0.331, 78, true);
    p.ranks[0].reserved = Bytes{79 * static_cast<std::int64_t>(kGiB)};
    p.headroom = Bytes{static_cast<std::int64_t>(kGiB)};
    p.memory_left = Bytes{static_cast<std::int64_t>(kGiB) / 2};
    p.memory_verdict = sim::MemoryVerdict::CannotBeTold;
    std::map<std::string, SummaryRow> rows;
    const Bytes limit{80 * static_cast<std::int64_t>(kGiB)};
    for (const SummaryRow& row : summary_of(p, Statistics{}, limit)) rows[row.name] = row;
    EXPECT_EQ(rows["memory"].value, "cannot be told");
    EXPECT_EQ(rows["headroom"].value, "1.00 GiB");
    EXPECT_EQ(rows["memory left"].value, "0.50 GiB");
    EXPECT_THAT(rows["rank 0"].value, testing::EndsWith("; 79.00 reserved"));
    EXPECT_FALSE(rows["rank 0"].bad);
    p.headroom = Bytes{2 * static_cast<std::int64_t>(kGiB)};
    for (const SummaryRow& row : summary_of(p, Statistics{}, limit)) rows[row.name] = row;
    EXPECT_TRUE(rows["rank 0"].bad);
}

TEST(Summary, shares_of_the_step_add_up) {
    const Answer answer = gui::answer(shipped("gpt3-175b"));
    double sum = 0;
    for (const SummaryRow& row :
         summary_of(answer.plan->prediction, answer.plan->document->statistics, {}))
        sum += row.share.value_or(0);
    EXPECT_NEAR(sum, 1, 1e-9);
}

class Undo : public testing::Test {
protected:
    static ScenarioText text(const std::string& t) { return {t, "a.yaml"}; }
    History::Clock::time_point at(int ms) const { return start_ + std::chrono::milliseconds(ms); }
    void SetUp() override { history.start(text("0")); }

    History history;
    History::Clock::time_point start_ = History::Clock::now();
};

TEST_F(Undo, goes_back_and_forth) {
    history.change(text("1"), "tensor", at(0));
    history.change(text("2"), "pipeline", at(10));
    EXPECT_EQ(history.before().text, "1");
    EXPECT_EQ(history.undo().text, "1");
    EXPECT_EQ(history.undo().text, "0");
    EXPECT_FALSE(history.can_undo());
    EXPECT_EQ(history.redo().text, "1");
    history.change(text("3"), "tensor", at(20));
    EXPECT_FALSE(history.can_redo());
}

TEST_F(Undo, takes_what_was_typed_in_one_go_as_one_change) {
    history.change(text("1"), "tensor", at(0));
    history.change(text("12"), "tensor", at(900));
    history.change(text("128"), "tensor", at(1800));
    EXPECT_EQ(history.undo().text, "0");
}

TEST_F(Undo, knows_whether_the_file_is_what_is_shown) {
    EXPECT_TRUE(history.is_saved());
    history.change(text("1"), "tensor", at(0));
    EXPECT_FALSE(history.is_saved());
    history.undo();
    EXPECT_TRUE(history.is_saved());
}

TEST(WhatIf, a_value_that_is_chosen_once_more_changes_nothing) {
    const ScenarioText source{
        "include: gpt3-175b\n"
        "schedule: {name: interleaved-1f1b, stages_per_rank: 3}\n"
        "parallel: {tensor: 8}\n",
        "plan.yaml"};
    EXPECT_EQ(with_change(source, "schedule", "interleaved-1f1b"), source);
    EXPECT_EQ(with_change(source, "parallel.tensor", "8"), source);
    EXPECT_NE(with_change(source, "schedule", "gpipe"), source);
}

TEST(Figures, of_two_plans_are_compared) {
    const std::vector<SummaryRow> a{{"step time", "2 s"}, {"MFU", "40 %"}, {"Peak memory", ""}};
    const std::vector<SummaryRow> b{{"step time", "3 s"}, {"program", "abc"}, {"Peak memory", ""}};
    const std::vector<ComparedRow> rows = compared(a, b);
    ASSERT_EQ(rows.size(), 4);
    EXPECT_EQ(rows[0].a + "|" + rows[0].b, "2 s|3 s");
    EXPECT_TRUE(rows[0].differs());
    EXPECT_EQ(rows[1].name, "program");
    EXPECT_EQ(rows[2].a + "|" + rows[2].b, "40 %|");
    EXPECT_TRUE(rows[3].headline);
    EXPECT_FALSE(rows[3].differs());
}

TEST(LatestWins, answers_the_first_and_the_last_of_many_and_drops_what_is_out_of_date) {
    std::promise<void> begun;
    std::promise<void> go;
    std::promise<int> last;
    std::vector<int> worked;
    std::vector<int> delivered;
    {
        LatestWins<int, int> worker(
            [&](const int& question, const std::stop_token&) {
                worked.push_back(question);
                if (question == 0) {
                    begun.set_value();
                    go.get_future().wait();
                }
                return question;
            },
            [&](int answer) {
                delivered.push_back(answer);
                last.set_value(answer);
            });
        worker.ask(0);
        begun.get_future().wait();
        for (int i = 1; i <= 5; ++i) worker.ask(i);
        go.set_value();
        EXPECT_EQ(last.get_future().get(), 5);
    }
    EXPECT_THAT(worked, ElementsAre(0, 5));
    EXPECT_THAT(delivered, ElementsAre(5));
}

/// The first question would never end by itself.
TEST(LatestWins, a_newer_question_stops_the_answer_under_way) {
    std::promise<void> begun;
    std::promise<int> last;
    LatestWins<int, int> worker(
        [&](const int& question, const std::stop_token& stop) {
            if (question == 0) begun.set_value();
            while (question == 0) give_up_if(stop);
            return question;
        },
        [&](int answer) { last.set_value(answer); });
    worker.ask(0);
    begun.get_future().wait();
    worker.ask(1);
    EXPECT_EQ(last.get_future().get(), 1);
}

TEST(LatestWins, what_is_forgotten_stops_and_is_not_delivered) {
    std::atomic<bool> stopped = false;
    std::promise<void> begun;
    bool delivered = false;
    {
        LatestWins<int, int> worker(
            [&](const int&, const std::stop_token& stop) {
                begun.set_value();
                while (!stop.stop_requested()) std::this_thread::yield();
                stopped = true;
                return 1;
            },
            [&](int) { delivered = true; });
        worker.ask(0);
        begun.get_future().wait();
        worker.forget();
    }
    EXPECT_TRUE(stopped);
    EXPECT_FALSE(delivered);
}

/// A plan of a hundred thousand actions: a cancelled question ends soon at any point, so that a
/// newer one need not wait.
TEST(WhatIf, an_answer_that_is_no_longer_wanted_gives_up) {
    ScenarioText large = with_change(shipped("gpt3-175b"), "training.global_batch", "3072");
    large = with_change(large, "schedule", "1f1b");
    std::stop_source stopped;
    stopped.request_stop();
    EXPECT_THROW(answer(large, stopped.get_token()), Cancelled);

    std::stop_source stop;
    std::promise<bool> gave_up;
    const std::jthread worker([&] {
        try {
            answer(large, stop.get_token());
            gave_up.set_value(false);
        } catch (const Cancelled&) {
            gave_up.set_value(true);
        }
    });
    // The step takes more than a second.
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    stop.request_stop();
    EXPECT_TRUE(gave_up.get_future().get());
}

}  // namespace
}  // namespace debubble::gui
