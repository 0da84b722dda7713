#include "gui/viewmodel/timeline/search.h"

#include <gmock/gmock.h>

#include "tests/gui/viewmodel/timeline/plans.h"

namespace debubble::gui {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;

/// 1F1B, p = 4, m = 6: F = 1 ms, B = 2 ms, links 0.1 ms.
class Search : public testing::Test {
protected:
    std::vector<std::string> found(std::string_view query) const {
        const SearchResult result = search(*document_, query);
        EXPECT_THAT(result.mistake, IsEmpty());
        std::vector<std::string> texts;
        for (const Selection& hit : result.hits)
            if (const auto* span = std::get_if<SpanRef>(&hit))
                texts.push_back(to_text(document_->span(span->index).action));
        return texts;
    }
    std::vector<const Bubble*> bubbles(std::string_view query) const {
        std::vector<const Bubble*> out;
        for (const Selection& hit : search(*document_, query).hits)
            if (const auto* bubble = std::get_if<BubbleRef>(&hit))
                out.push_back(&document_->bubble(bubble->index));
        return out;
    }
    std::string mistake(std::string_view query) const {
        const SearchResult result = search(*document_, query);
        EXPECT_THAT(result.hits, IsEmpty());
        return result.mistake;
    }

    Document document_ = document_of(
        plan("1f1b", 4, 6, std::chrono::milliseconds(1), std::chrono::microseconds(100)));
};

TEST_F(Search, FindsAnActionByItsText) {
    EXPECT_THAT(found("2F0"), ElementsAre("2F0"));
    EXPECT_THAT(found("2f0"), ElementsAre("2F0"));
    EXPECT_THAT(found("1SEND_F3"), ElementsAre("1SEND_F3"));
    EXPECT_THAT(found("2F17"), IsEmpty());
}

TEST_F(Search, FindsAKindAPlaceAndAMicrobatch) {
    EXPECT_THAT(found("F"), SizeIs(4 * 6));
    EXPECT_THAT(found("rank 3 b"), SizeIs(6));
    EXPECT_THAT(found("stage 2 mb 5"), SizeIs(2 + 4));  // F, B; both messages, at both ends
    EXPECT_THAT(found("send"), SizeIs(2 * 3 * 6));
    EXPECT_THAT(found("f rank 9"), IsEmpty());
}

TEST_F(Search, FindsWhatIsLongerOrShorter) {
    EXPECT_THAT(found("> 1.5 ms"), SizeIs(4 * 6));  // the backwards
    EXPECT_THAT(found("f >= 1ms"), SizeIs(4 * 6));
    EXPECT_THAT(found("f > 1ms"), IsEmpty());
    EXPECT_THAT(found("<100us"), IsEmpty());
    EXPECT_THAT(found("send<=100us"), SizeIs(36));
}

TEST_F(Search, FindsBubblesByLengthCauseAndRank) {
    const auto all = bubbles("bubble");
    EXPECT_THAT(all, SizeIs(document_->statistics.bubbles.size()));
    EXPECT_TRUE(std::ranges::is_sorted(all, {}, [](const Bubble* b) { return b->begin; }));
    std::size_t long_ones = 0;
    for (const Bubble& b : document_->statistics.bubbles)
        long_ones += b.end - b.begin > std::chrono::milliseconds(2) ? 1 : 0;
    ASSERT_GT(long_ones, 0U);
    EXPECT_THAT(bubbles("bubble > 2 ms"), SizeIs(long_ones));
    for (const Bubble* b : bubbles("bubble warm-up")) EXPECT_EQ(b->cause, BubbleCause::WarmUp);
    EXPECT_THAT(bubbles("bubble warm-up"), SizeIs(3));  // rank 0 begins at once
    for (const Bubble* b : bubbles("rank 2 bubble")) EXPECT_EQ(b->rank, Rank{2});
}

TEST_F(Search, SaysWhatItDoesNotUnderstand) {
    EXPECT_EQ(mistake(""), "nothing to search for");
    EXPECT_EQ(mistake("rank"), "RANK needs a number");
    EXPECT_EQ(mistake("rank two"), "RANK needs a number");
    EXPECT_EQ(mistake("rank 1.5"), "RANK needs a number");
    EXPECT_EQ(mistake("> 5"), "> 5 needs a unit: ns, us, ms or s");
    EXPECT_EQ(mistake("bubble > x"), "> needs a time, as in > 5 ms");
    EXPECT_EQ(mistake("f == 5 ms"), "== is not a comparison");
    EXPECT_THAT(mistake("nonsense"), testing::StartsWith("“nonsense” is not an action"));
    EXPECT_THAT(mistake("rank 99999999999999999999"), testing::Not(IsEmpty()));
    EXPECT_THAT(mistake("> 1e300 s"), testing::Not(IsEmpty()));
}

}  // namespace
}  // namespace debubble::gui
