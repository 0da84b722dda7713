#include "gui/viewmodel/screen.h"

#include <gmock/gmock.h>

#include "gui/viewmodel/what_if/field.h"
#include "tests/gui/viewmodel/shipped.h"

namespace debubble::gui {
namespace {

using PlanPtr = std::shared_ptr<const PredictedPlan>;

/// A desk on which a scenario was opened and changed once.
class OnTheDesk : public testing::Test {
protected:
    static void SetUpTestSuite() {
        const ScenarioText source = shipped("gpt2-xl-1f1b");
        before = answer(source).plan;
        now = answer(with_change(source, "schedule", "gpipe")).plan;
        other = answer(shipped("gpt2-xl-zb-h1")).plan;
    }
    static void TearDownTestSuite() { before = now = other = nullptr; }

    void SetUp() override {
        desk.open_plan(before->file);
        desk.predicted(before, nullptr);
        desk.predicted(now, before);
    }

    static Opened trace(const std::string& file) {
        Opened opened;
        opened.traces = {{other->document, file}};
        return opened;
    }
    static Opened files() {
        Opened opened = open_both({before->document, "/x/a.json"}, {other->document, "/x/b.json"});
        opened.compares = Compares::Files;
        return opened;
    }
    static Opened plans(const PlanPtr& a, const PlanPtr& b) {
        return open_both({a->document, "this plan", a}, {b->document, "the plan before", b});
    }
    static Opened run_of(const PlanPtr& plan) {
        Opened opened =
            open_both({plan->document, "predicted", plan}, {plan->document, "/x/executed.json"});
        opened.compares = Compares::Run;
        return opened;
    }

    template <class T>
    const T* shown() const {
        return std::get_if<T>(&desk.screen());
    }

    inline static PlanPtr before;
    inline static PlanPtr now;
    inline static PlanPtr other;
    Desk desk;
};

TEST(AnEmptyDesk, shows_nothing_and_offers_nothing) {
    const Desk desk;
    EXPECT_EQ(title_of(desk.screen()), "");
    EXPECT_FALSE(desk.edits());
    EXPECT_FALSE(desk.can_show_plan());
    EXPECT_FALSE(desk.can_show_aside());
    EXPECT_FALSE(desk.can_export());
}

TEST_F(OnTheDesk, a_plan_has_its_files_title_the_ghost_of_the_one_before_and_can_be_changed) {
    ASSERT_TRUE(shown<on_screen::Plan>());
    EXPECT_EQ(title_of(desk.screen()), "gpt2-xl-1f1b");
    EXPECT_EQ(shown<on_screen::Plan>()->ghost, before);
    EXPECT_TRUE(desk.edits());
    EXPECT_TRUE(desk.can_export());
}

TEST_F(OnTheDesk, a_trace_over_a_plan_has_no_ghost_cannot_be_changed_and_the_plan_comes_back) {
    ASSERT_TRUE(desk.show(trace("/x/a.trace.json")));
    ASSERT_TRUE(shown<on_screen::Trace>());
    EXPECT_EQ(title_of(desk.screen()), "a");
    EXPECT_FALSE(desk.edits());
    ASSERT_TRUE(desk.can_show_plan());
    desk.show_plan();
    EXPECT_EQ(document_of(desk.screen()), now->document);
    EXPECT_EQ(shown<on_screen::Plan>()->ghost, before);
    EXPECT_FALSE(desk.can_show_plan());
    ASSERT_TRUE(desk.can_show_aside());
    desk.show_aside();
    EXPECT_EQ(title_of(desk.screen()), "a");
}

TEST_F(OnTheDesk, an_answer_behind_a_trace_leaves_the_trace_in_front) {
    ASSERT_TRUE(desk.show(trace("/x/a.json")));
    desk.predicted(before, now);  // such as the answer to the previous change
    ASSERT_TRUE(shown<on_screen::Trace>());
    desk.show_plan();
    EXPECT_EQ(shown<on_screen::Plan>()->plan, before);
}

TEST_F(OnTheDesk, two_files_are_looked_at_under_both_names) {
    ASSERT_TRUE(desk.show(files()));
    EXPECT_EQ(title_of(desk.screen()), "a and b");
    EXPECT_FALSE(desk.edits());
    EXPECT_TRUE(desk.can_show_plan());
}

TEST_F(OnTheDesk, two_files_of_one_name_are_told_apart_by_their_folders) {
    Opened opened = files();
    opened.traces[0].file = "/x/first/executed.trace.json";
    opened.traces[1].file = "/x/second/executed.trace.json";
    ASSERT_TRUE(desk.show(opened));
    EXPECT_EQ(title_of(desk.screen()), "first/executed and second/executed");
}

TEST_F(OnTheDesk, two_plans_are_named_by_what_differs_in_them) {
    ASSERT_TRUE(desk.show(plans(now, before)));
    EXPECT_EQ(title_of(desk.screen()), "gpt2-xl-1f1b: gpipe and 1f1b");
    const PlanPtr same = answer(shipped("gpt2-xl-1f1b")).plan;
    desk.predicted(same, before);
    ASSERT_TRUE(desk.show(plans(same, before)));
    EXPECT_EQ(title_of(desk.screen()), "gpt2-xl-1f1b, this plan and the plan before");
}

TEST_F(OnTheDesk, a_change_takes_a_comparison_of_the_plan_from_the_screen) {
    ASSERT_TRUE(desk.show(plans(now, before)));
    ASSERT_TRUE(shown<on_screen::Comparison>());
    EXPECT_TRUE(desk.edits());
    desk.predicted(nullptr, nullptr);  // an impossible plan too, since its mistakes are the plan's
    ASSERT_TRUE(shown<on_screen::Plan>());
    EXPECT_EQ(shown<on_screen::Plan>()->plan, now);
    EXPECT_FALSE(desk.can_show_aside()) << "two plans are compared again";
}

TEST_F(OnTheDesk, a_comparison_of_a_plan_that_has_changed_meanwhile_is_not_shown) {
    EXPECT_FALSE(desk.show(plans(before, now)));
    EXPECT_TRUE(shown<on_screen::Plan>());
}

TEST_F(OnTheDesk, a_run_is_of_the_plan_in_its_title_whatever_is_open_when_it_ends) {
    ASSERT_TRUE(desk.show(run_of(before)));
    EXPECT_EQ(title_of(desk.screen()), "gpt2-xl-1f1b, predicted and executed");
    EXPECT_TRUE(desk.edits());
    desk.open_plan(other->file);
    desk.predicted(other, nullptr);
    ASSERT_TRUE(desk.show(run_of(before)));
    EXPECT_EQ(title_of(desk.screen()), "gpt2-xl-1f1b, predicted and executed");
    EXPECT_FALSE(desk.edits()) << "changes would be of another scenario";
}

TEST_F(OnTheDesk, a_comparison_that_comes_back_is_no_longer_of_a_scenario_that_was_closed) {
    ASSERT_TRUE(desk.show(run_of(now)));
    desk.open_plan(other->file);
    ASSERT_TRUE(desk.can_show_aside());
    desk.show_aside();
    EXPECT_FALSE(desk.edits());
}

TEST_F(OnTheDesk, nothing_of_the_scenario_before_is_shown_under_the_name_of_another) {
    desk.open_plan("/x/impossible.yaml");
    desk.predicted(nullptr, nullptr);
    EXPECT_EQ(title_of(desk.screen()), "impossible");
    EXPECT_EQ(document_of(desk.screen()), nullptr);
    EXPECT_FALSE(desk.can_export());
    EXPECT_TRUE(desk.edits());
}

TEST_F(OnTheDesk, an_impossible_change_leaves_the_last_possible_plan_and_its_ghost) {
    desk.predicted(nullptr, nullptr);
    EXPECT_EQ(shown<on_screen::Plan>()->plan, now);
    EXPECT_EQ(shown<on_screen::Plan>()->ghost, before);
}

TEST_F(OnTheDesk, a_saved_copy_gives_the_title) {
    desk.renamed("/x/mine.yaml");
    EXPECT_EQ(title_of(desk.screen()), "mine");
}

TEST_F(OnTheDesk, only_places_in_the_open_scenario_can_be_shown) {
    EXPECT_TRUE(desk.shows_text_of(before->file));
    EXPECT_FALSE(desk.shows_text_of("/x/damaged.trace.json"));
    EXPECT_FALSE(desk.shows_text_of(""));
}

TEST_F(OnTheDesk, views_are_kept_of_plans_and_files_but_not_of_what_covers_a_plan) {
    EXPECT_EQ(view_name_of(desk.screen()), before->file);
    ASSERT_TRUE(desk.show(plans(now, before)));
    EXPECT_EQ(view_name_of(desk.screen()), "");
    ASSERT_TRUE(desk.show(files()));
    EXPECT_EQ(view_name_of(desk.screen()), "/x/a.json|/x/b.json");
}

TEST_F(OnTheDesk, the_figures_of_a_predicted_trace_are_all_that_is_known) {
    const auto names = [](const Shown& shown) {
        std::vector<std::string> found;
        for (const SummaryRow& row : figures_of(shown)) found.push_back(row.name);
        return found;
    };
    EXPECT_THAT(names({now->document, "", now}), testing::Contains("MFU"));
    EXPECT_THAT(names({now->document, ""}), testing::Not(testing::Contains("MFU")));
}

}  // namespace
}  // namespace debubble::gui
