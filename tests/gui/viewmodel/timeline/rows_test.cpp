#include "trace/picture/rows.h"

#include <gmock/gmock.h>

#include "tests/gui/viewmodel/timeline/plans.h"

namespace debubble::gui {
namespace {

using testing::SizeIs;

Document many_ranks(int ranks) {
    return document_of(
        plan("gpipe", ranks, 2, std::chrono::milliseconds(1), std::chrono::microseconds(5)));
}

TEST(Rows, FillTheWindowWithinWhatIsReadable) {
    const Document document = many_ranks(8);
    EXPECT_EQ(lay_out(*document, {}, {}, 560).height, 560);
    EXPECT_EQ(lay_out(*document, {}, {}, 10'000).height, 8 * 180);
    EXPECT_EQ(lay_out(*document, {}, {}, 10).height, 8 * 44);
}

TEST(Rows, GiveMemoryTwoFifthsOrAStripOfColour) {
    const RowNeeds memory{.memory = true};
    const RowLayout few = lay_out(*many_ranks(8), {}, memory, 640);
    EXPECT_EQ(few.rows[0].whole.height, 80);
    EXPECT_EQ(few.rows[0].memory.height, 32);
    EXPECT_FALSE(few.rows[0].heat);
    const RowLayout many = lay_out(*many_ranks(33), {}, memory, 640);
    EXPECT_TRUE(many.rows[0].heat);
    EXPECT_EQ(many.rows[0].memory.height, 4);
}

TEST(Rows, DivideIntoBandsThatDoNotOverlap) {
    for (const int ranks : {2, 8, 40})
        for (const bool comparison : {false, true}) {
            const RowLayout layout =
                lay_out(*many_ranks(ranks), {}, {.memory = true, .comparison = comparison}, 700);
            for (const Row& row : layout.rows) {
                int y = row.whole.y;
                std::vector<Band> bands{row.bars,        row.error,  row.other,       row.links,
                                        row.other_links, row.memory, row.other_memory};
                std::erase_if(bands, [](const Band& band) { return band.height == 0; });
                for (const Band& band : bands) {
                    EXPECT_GE(band.y, y);
                    y = band.bottom();
                }
                EXPECT_LE(y, row.whole.bottom());
                EXPECT_GE(row.bars.height, 4);
                EXPECT_EQ(row.error.height, comparison ? 3 : 0);
                EXPECT_EQ(row.other_memory.height > 0, comparison);
                EXPECT_EQ(row.other_links.height, comparison ? row.links.height : 0);
            }
        }
}

TEST(Rows, OfRanksAlikeAreThinLinesThatShareTheirWords) {
    const Document document = many_ranks(100);
    const RowChoices fold{.fold_alike = true};
    const RowLayout layout = lay_out(*document, fold, {.memory = true}, 700);
    // The ranks of a pipeline of even stages are all similar.
    ASSERT_THAT(layout.rows, SizeIs(kMostLinesOfRun));
    EXPECT_EQ(layout.rows[0].run_to, 99U);
    EXPECT_EQ(layout.rows[0].run_height, layout.height);
    std::size_t before = 0;
    int y = 0;
    for (const Row& row : layout.rows) {
        EXPECT_TRUE(row.folded);
        EXPECT_EQ(row.whole.y, y);
        EXPECT_EQ(layout.run_of(row), layout.rows.data());
        EXPECT_EQ(layout.row_at(y), &row) << "a click finds the rank of its line";
        if (y > 0) {
            EXPECT_FALSE(row.run_to);
            EXPECT_GT(row.device, before);
        }
        before = row.device;
        y = row.whole.bottom();
    }
    EXPECT_EQ(y, layout.height);
}

TEST(Rows, OfRanksThatSomebodyChoseAreNotFolded) {
    const Document document = many_ranks(40);
    const RowLayout layout =
        lay_out(*document, {.pinned = {20}, .fold_alike = true}, {.memory = true}, 700);
    EXPECT_EQ(layout.rows[0].device, 20U);
    EXPECT_FALSE(layout.rows[0].folded);
    EXPECT_EQ(layout.run_of(layout.rows[0]), nullptr);
    EXPECT_GT(layout.rows[0].memory.height, 0);
    const RowLayout opened =
        lay_out(*document, {.unfolded = {0}, .fold_alike = true}, {.memory = true}, 700);
    EXPECT_THAT(opened.rows, SizeIs(40));
    EXPECT_FALSE(opened.rows[3].folded);
    EXPECT_THAT(lay_out(*many_ranks(kManyDevices), {.fold_alike = true}, {}, 700).rows,
                SizeIs(kManyDevices))
        << "few ranks have room";
}

TEST(Rows, OfTwoPlansAreFoldedWhereBothHaveRanksAlike) {
    const Document a = many_ranks(40);
    const Document b = document_of(plan("1f1b", 40, 2));
    const auto folded = [&](const Document& other) {
        return lay_out(*a, {.fold_alike = true}, {.comparison = true, .other = other.get()}, 700);
    };
    const RowLayout both = folded(b);
    ASSERT_THAT(both.rows, SizeIs(kMostLinesOfRun / 2));
    for (const Row& row : both.rows) {
        EXPECT_TRUE(row.folded);
        EXPECT_EQ(row.other.height, row.bars.height);
        EXPECT_EQ(row.other.y, row.bars.bottom()) << "B's line lies below A's";
        EXPECT_EQ(row.error.height, 0);
    }
    Trace uneven = plan("1f1b", 40, 2);
    for (Span& span : uneven.spans)
        if (span.rank.index % 2 == 1 && is_work(span.action))
            span.begin += (span.end - span.begin) / 2;
    EXPECT_THAT(folded(document_of(std::move(uneven))).rows, SizeIs(40));
    EXPECT_THAT(folded(many_ranks(20)).rows, SizeIs(testing::Gt(20)))
        << "ranks that B lacks are not similar to others";
}

TEST(Rows, AreThoseOfABrushAlone) {
    const Document document = many_ranks(12);
    const RowLayout layout = lay_out(*document, {.pinned = {11}, .only = std::pair(3, 5)}, {}, 700);
    ASSERT_THAT(layout.rows, SizeIs(4));
    EXPECT_EQ(layout.rows[0].device, 11U);
    EXPECT_EQ(layout.rows[1].device, 3U);
    EXPECT_EQ(layout.only, std::pair(3, 5));
    EXPECT_GT(layout.rows[1].whole.height, lay_out(*document, {}, {}, 700).rows[1].whole.height);
    EXPECT_THAT(lay_out(*document, {.only = std::pair(70, 80)}, {}, 700).rows, SizeIs(12))
        << "a plan that has fewer ranks now";
}

TEST(Rows, PutThePinnedOnesFirst) {
    const RowLayout layout = lay_out(*many_ranks(4), {.pinned = {2}}, {}, 400);
    EXPECT_EQ(layout.rows[0].device, 2U);
    EXPECT_EQ(layout.rows[1].device, 0U);
    EXPECT_EQ(layout.pinned_height, layout.rows[0].whole.height);
}

TEST(Rows, OpenStreamsAndCollapse) {
    const Document document = many_ranks(3);
    const std::size_t streams = document->devices[1].streams.size();
    ASSERT_GE(streams, 2U);
    const RowLayout open = lay_out(*document, {.streams = {1}}, {}, 400);
    EXPECT_THAT(open.rows, SizeIs(3 + streams));
    EXPECT_EQ(open.rows[2].stream, 0U);
    const RowLayout closed = lay_out(*document, {.collapsed = {1}}, {}, 400);
    EXPECT_LT(closed.rows[1].whole.height, closed.rows[0].whole.height);
}

TEST(Rows, AreFoundByTheirPixels) {
    const RowLayout layout = lay_out(*many_ranks(5), {.streams = {0, 3}}, {.memory = true}, 500);
    for (int y = 0; y < layout.height; ++y) {
        const Row* row = layout.row_at(y);
        ASSERT_NE(row, nullptr);
        EXPECT_TRUE(row->whole.y <= y && y < row->whole.bottom());
    }
    EXPECT_EQ(layout.row_at(-1), nullptr);
    EXPECT_EQ(layout.row_at(layout.height), nullptr);
}

}  // namespace
}  // namespace debubble::gui
