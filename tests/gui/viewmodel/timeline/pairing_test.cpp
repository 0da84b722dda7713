#include "gui/viewmodel/timeline/pairing.h"

#include <gmock/gmock.h>

#include "tests/gui/viewmodel/timeline/plans.h"

namespace debubble::gui {
namespace {

using std::chrono::milliseconds;
using testing::SizeIs;

/// The run: the same trace with every F of rank 1 longer by `more` from the same start.
Trace with_longer_forwards(Trace trace, Duration more) {
    for (Span& span : trace.spans) {
        const auto* c = std::get_if<Compute>(&span.action);
        if (c != nullptr && c->pass == Pass::Forward && span.rank == Rank{1}) span.end += more;
    }
    return trace;
}

TEST(Pairing, OfADocumentWithItselfHasNoError) {
    const Document document = document_of(plan("zb-h1", 4, 8));
    const auto pairing = pair(*document, *document);
    EXPECT_EQ(pairing->only_a + pairing->only_b, 0U);
    for (std::size_t i = 0; i < document->trace.spans.size(); ++i) {
        EXPECT_EQ(pairing->a.partner[i], i);
        EXPECT_EQ((*pairing->a.error)[i], 0.F);
    }
    EXPECT_THAT(pairing->worst, SizeIs(0));
}

TEST(Pairing, GivesEveryActionItsSignedError) {
    const Trace simulated = plan("1f1b", 4, 6);
    const Document a = document_of(simulated);
    const Document b = document_of(with_longer_forwards(simulated, milliseconds(1)));
    const auto pairing = pair(*a, *b);
    for (std::uint32_t i = 0; i < a->trace.spans.size(); ++i) {
        const bool changed = to_text(a->span(i).action).starts_with("1F");
        EXPECT_FLOAT_EQ(*(*pairing->a.error)[i], changed ? -0.5F : 0.F);
    }
    ASSERT_THAT(pairing->worst, SizeIs(6));
    for (const Pair& pair : pairing->worst)
        EXPECT_THAT(to_text(a->span(pair.a).action), testing::StartsWith("1F"));
    ASSERT_EQ(pairing->kinds.front().name, "F");
    EXPECT_EQ(pairing->kinds.front().count, 24U);
    EXPECT_EQ(pairing->kinds.front().apart, milliseconds(6));
}

TEST(Pairing, AgreesWithTheComparisonOfTheCommandLine) {
    Trace simulated = plan("1f1b", 4, 6, milliseconds(1), milliseconds(2));
    simulated.header.program_hash = "one";
    const Trace executed = with_longer_forwards(simulated, std::chrono::microseconds(700));
    const Comparison expected = compare(simulated, executed);
    const Document a = document_of(simulated);
    const Document b = document_of(executed);
    const auto pairing = pair(*a, *b);
    ASSERT_EQ(pairing->kinds.size(), expected.kinds.size());
    for (std::size_t k = 0; k < expected.kinds.size(); ++k) {
        EXPECT_EQ(pairing->kinds[k].name, expected.kinds[k].name);
        EXPECT_EQ(pairing->kinds[k].count, expected.kinds[k].count);
        EXPECT_EQ(pairing->kinds[k].sum, expected.kinds[k].sum);
        EXPECT_EQ(pairing->kinds[k].apart, expected.kinds[k].apart);
    }
    ASSERT_EQ(pairing->stages.size(), expected.stages.size());
    for (std::size_t k = 0; k < expected.stages.size(); ++k) {
        EXPECT_EQ(pairing->stages[k].name, expected.stages[k].name);
        EXPECT_EQ(pairing->stages[k].count, expected.stages[k].count);
        EXPECT_EQ(pairing->stages[k].sum, expected.stages[k].sum);
        EXPECT_EQ(pairing->stages[k].apart, expected.stages[k].apart);
    }
    ASSERT_EQ(pairing->worst.size(), expected.worst.size());
    for (std::size_t w = 0; w < expected.worst.size(); ++w)
        EXPECT_EQ(pairing->worst[w].length, expected.worst[w].length);
}

TEST(Pairing, OfTwoPlansCountsWhatOnlyOneHas) {
    const Document a = document_of(plan("1f1b", 4, 6));
    const Document b = document_of(plan("zb-h1", 4, 6));
    const auto pairing = pair(*a, *b);
    EXPECT_EQ(pairing->only_a, 24U);      // B
    EXPECT_EQ(pairing->only_b, 2U * 24);  // I and W
    const auto meant = differing(*pairing, Side::A, 0.05);
    for (std::uint32_t i = 0; i < meant->size(); ++i)
        EXPECT_EQ((*meant)[i], std::get<Compute>(a->span(i).action).pass == Pass::Backward);
}

TEST(Pairing, ShowsDifferencesFromTheThresholdOn) {
    const Trace simulated = plan("gpipe", 2, 3);
    const Document a = document_of(simulated);
    const Document b = document_of(with_longer_forwards(simulated, milliseconds(1)));
    const auto pairing = pair(*a, *b);
    EXPECT_EQ(std::ranges::count(*differing(*pairing, Side::A, 0.5), true), 3);
    EXPECT_EQ(std::ranges::count(*differing(*pairing, Side::A, 0.51), true), 0);
}

TEST(Alignment, IsByTheStepTheOptimizerOrTheSelectedAction) {
    Trace first = plan("gpipe", 2, 3);
    Trace second = first;
    for (Span& span : second.spans) {
        span.begin += milliseconds(100);
        span.end += milliseconds(100);
    }
    const auto add_optimizer = [](Trace& trace, Duration after) {
        const Instant begin = trace.spans.back().end + after;
        trace.spans.push_back(
            {Rank{0}, 0, Lane::Compute, OptimizerStep{}, begin, begin + milliseconds(1), {}, {}});
    };
    add_optimizer(first, milliseconds(1));
    add_optimizer(second, milliseconds(8));
    second.spans[2].begin += milliseconds(3);
    const Document a = document_of(first);
    const Document b = document_of(second);
    const auto pairing = pair(*a, *b);
    const auto shift = [&](Alignment alignment, Selection selection) {
        return shift_of(*a, *b, *pairing, alignment, selection);
    };
    EXPECT_EQ(shift(Alignment::StepStart, {}), -milliseconds(100));
    EXPECT_EQ(shift(Alignment::OptimizerStep, {}), -milliseconds(107));
    EXPECT_EQ(shift(Alignment::SelectedOp, {}), -milliseconds(100));
    const std::uint32_t moved = *pairing->b.partner[2];
    EXPECT_EQ(shift(Alignment::SelectedOp, SpanRef{moved, Side::A}), -milliseconds(103));
    EXPECT_EQ(shift(Alignment::SelectedOp, SpanRef{2, Side::B}), -milliseconds(103));
}

TEST(Pairing, OfOtherPlansSumsByKindAndRankAndPairsNothing) {
    // The same work on four stages and, interleaved, on eight half as long.
    const Document a = document_of(plan("1f1b", 4, 8, milliseconds(2)));
    const Document b = document_of(plan("interleaved-1f1b", 4, 8, milliseconds(1), {}, 2));
    const auto pairing = pair(*a, *b, Common::Nothing);
    EXPECT_THAT(pairing->worst, SizeIs(0));
    EXPECT_THAT(pairing->kinds, SizeIs(0));
    EXPECT_THAT(pairing->stages, SizeIs(0));
    EXPECT_THAT(pairing->a.partner, testing::Each(std::nullopt));
    EXPECT_THAT(*pairing->b.error, testing::Each(std::nullopt));
    ASSERT_EQ(pairing->kind_sums.front().name, "all passes");
    for (const SumRow& row : pairing->kind_sums) {
        EXPECT_EQ(row.change(), 0.0) << row.name << ": the work is the same";
        EXPECT_EQ(row.count.executed, 2 * row.count.simulated) << row.name;
    }
    ASSERT_THAT(pairing->rank_sums, SizeIs(4));
    for (const SumRow& row : pairing->rank_sums) EXPECT_EQ(row.sum.simulated, row.sum.executed);
    EXPECT_THAT(sums_text(*pairing), testing::HasSubstr("all passes"));
    EXPECT_THAT(sums_text(*pairing), testing::Not(testing::HasSubstr("error")));
}

}  // namespace
}  // namespace debubble::gui
