#include "trace/picture/step_parts.h"

#include <gmock/gmock.h>

#include "gui/viewmodel/timeline/pairing.h"
#include "gui/viewmodel/what_if/answer.h"
#include "tests/gui/viewmodel/shipped.h"
#include "trace/picture/bubbles.h"
#include "trace/picture/shapes/page_shapes.h"

namespace debubble::gui {
namespace {

class StepParts : public testing::Test {
protected:
    static void SetUpTestSuite() { plan = answer(shipped("gpt2-xl-1f1b")).plan; }
    static void TearDownTestSuite() { plan = nullptr; }

    inline static std::shared_ptr<const PredictedPlan> plan;
};

TEST_F(StepParts, add_up_to_the_idle_time_and_the_step_of_the_report) {
    ASSERT_EQ(plan->document->devices.size(), plan->prediction.ranks.size());
    for (std::size_t r = 0; r < plan->prediction.ranks.size(); ++r) {
        const std::vector<StepPart> parts = step_parts(plan->document->devices[r]);
        double idle = 0;
        for (const StepPart& part : parts)
            if (part.idle) idle += seconds(part.time);
        EXPECT_GT(idle, 0);
        EXPECT_NEAR(idle, plan->prediction.ranks[r].idle_s, 1e-9);
        EXPECT_NEAR(seconds(length_of(parts)), plan->prediction.step_time_s, 1e-9);
    }
}

TEST_F(StepParts, of_idle_time_have_the_colours_of_their_bubbles) {
    const RankStatistics& rank = *plan->document->devices[2].statistics;
    std::size_t causes = 0;
    for (const StepPart& part : step_parts(plan->document->devices[2])) {
        if (!part.idle) continue;
        for (std::size_t c = 0; c < kBubbleCauses; ++c)
            if (const auto cause = static_cast<BubbleCause>(c);
                part.name == "idle: " + std::string(wording_of(cause))) {
                ++causes;
                EXPECT_EQ(part.time, rank.idle_by_cause[c]);
                EXPECT_EQ(part.light, bubble_colours(cause, Theme::Light).line);
                EXPECT_EQ(part.dark, bubble_colours(cause, Theme::Dark).line);
            }
    }
    EXPECT_GE(causes, 3U);
}

TEST_F(StepParts, are_a_bar_of_shares_beside_every_row) {
    const Device& device = plan->document->devices[1];
    const std::vector<StepPart> parts = step_parts(device);
    const Shapes bar = step_bar(device, {8, 40, 150, 5}, Theme::Dark, true);
    ASSERT_EQ(bar.size(), parts.size());
    double left = 8;
    for (std::size_t i = 0; i < parts.size(); ++i) {
        const auto& area = std::get<Area>(bar[i]);
        EXPECT_NEAR(area.rect.x, left, 1e-9);
        EXPECT_NEAR(area.rect.width, 150 * seconds(parts[i].time) / plan->prediction.step_time_s,
                    1e-6);
        EXPECT_EQ(area.fill, parts[i].dark);
        EXPECT_THAT(area.tip, testing::HasSubstr(parts[i].name));
        left = area.rect.right();
    }
    EXPECT_NEAR(left, 158, 1e-9);
}

TEST_F(StepParts, are_drawn_left_of_the_lanes_and_said_in_words) {
    Scene scene;
    scene.main = {plan->document, colour(*plan->document, {}), {}};
    for (const int height : {200, 1000}) {
        scene.layout = lay_out(*plan->document, {}, scene.needs(), height);
        View view;
        view.geometry = {1200, page_height(scene, 1200)};
        view.axis = TimeAxis(scene.range(), view.geometry.lanes_width());
        const Rgb wanted = bubble_colours(BubbleCause::OtherStage, Theme::Light).line;
        std::vector<Rect> found;
        for (const Sheet& sheet : surroundings(scene, view))
            for (const Shape& shape : sheet.shapes)
                if (const auto* area = std::get_if<Area>(&shape))
                    if (area->fill == wanted) found.push_back(area->rect);
        std::vector<std::size_t> waiting;
        for (std::size_t r = 0; r < plan->document->devices.size(); ++r)
            if (plan->document->devices[r]
                    .statistics->idle_by_cause[static_cast<std::size_t>(BubbleCause::OtherStage)] >
                Duration{})
                waiting.push_back(r);
        ASSERT_GE(waiting.size(), 3U);
        ASSERT_EQ(found.size(), waiting.size()) << "a bar has the part of each rank that waits";
        for (std::size_t i = 0; i < found.size(); ++i) {
            const Row& row = scene.layout.rows[waiting[i]];
            EXPECT_LT(found[i].right(), PageGeometry{}.gutter());
            EXPECT_GE(found[i].y, view.y(row, row.whole.y + 2 * 14.0)) << "below the words";
            EXPECT_LE(found[i].bottom(), view.y(row, row.whole.bottom()));
        }
    }
    const auto details = details_of_step(scene, scene.layout.rows[1]);
    EXPECT_EQ(details[0].value, "rank 1");
    EXPECT_EQ(details[1].name, "memory");
    EXPECT_EQ(details.size(), 2 + step_parts(plan->document->devices[1]).size());
}

TEST_F(StepParts, are_missing_where_no_statistics_are_kept) {
    const Device device{};
    ASSERT_EQ(device.statistics, nullptr);
    EXPECT_TRUE(step_parts(device).empty());
    EXPECT_TRUE(step_bar(device, {0, 0, 100, 5}, Theme::Light, false).empty());
}

}  // namespace
}  // namespace debubble::gui
