#include "gui/viewmodel/timeline/overview.h"

#include <gmock/gmock.h>

#include "tests/gui/viewmodel/timeline/plans.h"
#include "trace/picture/raster.h"

namespace debubble::gui {
namespace {

TEST(Overview, folds_neighbours_whose_steps_go_to_the_same_things) {
    const Document document = document_of(plan("1f1b", 64, 256));
    const std::vector<RankBand> bands = rank_bands(*document);
    // Every device is in one band, in order.
    std::size_t next = 0;
    for (const RankBand& band : bands) {
        EXPECT_EQ(band.first, next);
        EXPECT_GE(band.last, band.first);
        next = band.last + 1;
    }
    EXPECT_EQ(next, document->devices.size());
    EXPECT_EQ(bands.size(), 1U) << "all ranks of even stages compute as long";
    EXPECT_EQ(bands[0].name, "similar ranks 0 to 63");
}

TEST(Overview, keeps_a_rank_apart_that_works_longer) {
    Trace trace = plan("gpipe", 4, 4);
    for (Span& span : trace.spans)
        if (span.rank.index == 2 && span.lane == Lane::Compute)
            span.end = span.begin + (span.end - span.begin) / 2;
    const std::vector<RankBand> bands = rank_bands(*document_of(std::move(trace)));
    ASSERT_EQ(bands.size(), 3U);
    EXPECT_EQ(bands[1].name, "rank 2");
    EXPECT_FALSE(bands[1].has_several());
}

TEST(Overview, has_a_line_of_mean_colours_for_each_rank) {
    const Document document = document_of(plan("gpipe", 3, 2));
    const OverviewPicture drawn = overview_picture(*document, picture::Theme::Light, 200, 50);
    EXPECT_EQ(drawn.lines(), 3U);
    EXPECT_EQ(drawn.memory.size(), 3U * 50);
    // Rank 0 begins with a forward, rank 2 waits.
    const auto colour = [](Paint paint) {
        return picture::pixel(picture::paint(paint, picture::Theme::Light));
    };
    EXPECT_EQ(drawn.work[0], colour(Paint::Forward));
    EXPECT_EQ(drawn.work[2 * 200], colour(Paint::Bubble));
}

TEST(Overview, a_brush_holds_the_devices_between_its_ends) {
    using Pair = std::pair<std::size_t, std::size_t>;
    EXPECT_EQ(devices_between(1000, 500, 0, 499.9), Pair(0, 999));
    EXPECT_EQ(devices_between(1000, 500, 30, 10), Pair(20, 60));
    EXPECT_EQ(devices_between(4, 96, -5, 500), Pair(0, 3));
}

}  // namespace
}  // namespace debubble::gui
