#include "gui/viewmodel/opened.h"

#include <filesystem>
#include <fstream>

#include <stdlib.h>

#include <fmt/format.h>
#include <gmock/gmock.h>

#include "base/file.h"
#include "gui/viewmodel/screen.h"
#include "gui/viewmodel/what_if/answer.h"
#include "tests/gui/viewmodel/shipped.h"
#include "trace/io/trace_formats.h"
#include "trace/profile/formats/profile_files.h"

/// Files that the user drops on the window: profiles, folders, traces of several steps.
namespace debubble::gui {
namespace {

using testing::HasSubstr;

class FilesToOpen : public testing::Test {
protected:
    static void SetUpTestSuite() {
        ScenarioText source = shipped("gpt2-xl-1f1b");
        source = with_change(source, "training.micro_batches", "6");
        text = source.text;
        plan = answer(source).plan;
    }
    static void TearDownTestSuite() { plan = nullptr; }
    void SetUp() override {
        std::string name =
            (std::filesystem::temp_directory_path() / "debubble-opened-XXXXXX").string();
        folder = ::mkdtemp(name.data());
    }
    void TearDown() override { std::filesystem::remove_all(folder); }

    /// `count` copies of the plan's step, one after another, the second one slower.
    static Trace steps(int count) {
        const Trace& one = plan->document->trace;
        Trace all{one.header, {}, {}, one.peaks, one.program};
        all.header.source = TraceSource::Executed;
        all.header.step_time = {};
        const Duration step = plan->document->range.length();
        Duration shift{};
        for (int k = 0; k < count; ++k) {
            const double slower = k == 1 ? 1.5 : 1;
            for (Span span : one.spans) {
                const auto at = [&](Instant instant) {
                    const double from = seconds(instant - plan->document->range.begin);
                    return Instant{} + shift + from_seconds(slower * from);
                };
                span.begin = at(span.begin);
                span.end = at(span.end);
                span.exposed = {};
                span.exposed_parts = 0;
                all.spans.push_back(span);
            }
            shift += from_seconds(slower * seconds(step));
        }
        return all;
    }

    std::string written(const Trace& trace, const std::string& name) const {
        const std::filesystem::path file = folder / name;
        write_file(file, [&](std::ostream& out) { write_chrome_trace(trace, out); });
        return file.string();
    }
    /// The files of the ranks, as torch.profiler writes them.
    void write_profile() const {
        const Trace& trace = plan->document->trace;
        for (const profile::WrittenRank& rank : profile::written_ranks(trace))
            write_file(folder / fmt::format("rank-{}.json", rank.global_rank),
                       [&](std::ostream& out) { profile::write_kineto(trace, rank, out); });
    }

    inline static std::string text;
    inline static std::shared_ptr<const PredictedPlan> plan;
    std::filesystem::path folder;
};

TEST_F(FilesToOpen, AreOneRunWhereTheyAreTheRanksOfAProfile) {
    write_profile();
    std::vector<std::string> files;
    for (const auto& entry : std::filesystem::directory_iterator(folder))
        files.push_back(entry.path().string());
    ASSERT_EQ(files.size(), 4U);
    for (const std::vector<std::string>& given : {files, {folder.string()}}) {
        const Opened opened = open_all(given, {});
        ASSERT_TRUE(opened.mistakes.empty()) << opened.mistakes.front().message;
        ASSERT_EQ(opened.traces.size(), 1U);
        EXPECT_EQ(opened.traces[0].document->devices.size(), 4U);
        EXPECT_THAT(opened.traces[0].document->caption.subtitle, HasSubstr("passes: named"));
    }
}

TEST_F(FilesToOpen, LieBelowTheirPredictionWhereAScenarioIsGivenToo) {
    write_profile();
    const std::string scenario = (folder.parent_path() / "debubble-opened-plan.yaml").string();
    write_file(scenario, text);
    const Opened opened = open_all({scenario, folder.string()}, {});
    std::filesystem::remove(scenario);
    ASSERT_TRUE(opened.mistakes.empty()) << opened.mistakes.front().message;
    ASSERT_EQ(opened.traces.size(), 2U);
    EXPECT_EQ(opened.compares, Compares::Run);
    ASSERT_TRUE(opened.pairing);
    EXPECT_EQ(opened.pairing->alike, Common::Program);
    EXPECT_FALSE(opened.pairing->kinds.empty());
    EXPECT_THAT(opened.comparison, HasSubstr("step"));
}

TEST_F(FilesToOpen, ShowTheMedianOfSeveralStepsAndOfferTheOthers) {
    const Opened opened = open_all({written(steps(3), "run.trace.json")}, {});
    ASSERT_TRUE(opened.mistakes.empty()) << opened.mistakes.front().message;
    const Shown& shown = opened.traces.at(0);
    ASSERT_TRUE(shown.steps);
    ASSERT_EQ(shown.steps->steps.size(), 3U);
    EXPECT_NE(shown.step, 1U) << "the slow one";
    const Duration one = plan->document->range.length();
    EXPECT_EQ(shown.document->range.length(), one) << "one step, not three";
    EXPECT_EQ(shown.document->trace.spans.size(), plan->document->trace.spans.size());
    EXPECT_THAT(shown.document->caption.subtitle, HasSubstr("of 3, the median one"));
    const std::vector<std::string> names = names_of_steps(shown);
    ASSERT_EQ(names.size(), 3U);
    EXPECT_THAT(names[shown.step], HasSubstr("(median)"));
    const Opened slow = open_step(shown, 1);
    EXPECT_NEAR(seconds(slow.traces.at(0).document->range.length()), 1.5 * seconds(one), 1e-6);
    EXPECT_EQ(slow.traces[0].steps, shown.steps);
}

TEST_F(FilesToOpen, WithOneStepHaveNoOthersToOffer) {
    const Opened opened = open_all({written(steps(1), "run.trace.json")}, {});
    ASSERT_EQ(opened.traces.size(), 1U);
    EXPECT_FALSE(opened.traces[0].steps);
    EXPECT_TRUE(names_of_steps(opened.traces[0]).empty());
}

TEST_F(FilesToOpen, OfAnotherStepStayInFrontOfThePlan) {
    Desk desk;
    desk.open_plan(plan->file);
    desk.predicted(plan, nullptr);
    const Opened opened = open_all({written(steps(3), "run.trace.json")}, {});
    ASSERT_TRUE(desk.show(opened));
    ASSERT_TRUE(desk.show(open_step(opened.traces[0], 1)));
    EXPECT_FALSE(desk.can_show_aside()) << "the other step is a click away";
    desk.show_plan();
    EXPECT_TRUE(desk.can_show_aside());
}

TEST_F(FilesToOpen, ArePlansWhoseSumsAreComparedWhereTheirLayersDiffer) {
    const auto v = answer(with_change(shipped("gpt2-xl-1f1b"), "schedule", "zb-v")).plan;
    const Opened opened =
        open_both({plan->document, "this plan", plan}, {v->document, "the plan before", v});
    ASSERT_TRUE(opened.pairing);
    EXPECT_EQ(opened.pairing->alike, Common::Nothing);
    EXPECT_THAT(opened.comparison, testing::Not(HasSubstr("error")));
    const auto gpipe = answer(with_change(shipped("gpt2-xl-1f1b"), "schedule", "gpipe")).plan;
    const auto alike = open_both({gpipe->document, "this plan", gpipe},
                                 {answer(shipped("gpt2-xl-1f1b")).plan->document, "the plan before",
                                  answer(shipped("gpt2-xl-1f1b")).plan});
    EXPECT_EQ(alike.pairing->alike, Common::Layers);
}

}  // namespace
}  // namespace debubble::gui
