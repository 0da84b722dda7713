#include "trace/exposed_parts.h"

#include <gmock/gmock.h>

#include "trace/trace.h"

namespace debubble {
namespace {

DurationByKind parts(std::int64_t tensor, std::int64_t expert) {
    return {Duration{tensor}, {}, Duration{expert}, {}, {}, {}};
}

TEST(ExposedParts, AreKeptOnceAndNumberedAsTheyCome) {
    ExposedParts kept;
    EXPECT_EQ(kept.number(parts(3, 4)), 1U);
    EXPECT_EQ(kept.number(parts(4, 3)), 2U);
    EXPECT_EQ(kept.number(parts(3, 4)), 1U);
    EXPECT_EQ(kept.number(parts(0, 0)), 0U);
    EXPECT_EQ(kept.size(), 2U);
    EXPECT_EQ(kept.of(1), parts(3, 4));
    EXPECT_EQ(kept.of(2), parts(4, 3));
    EXPECT_EQ(kept.of(0), DurationByKind{});
}

TEST(ExposedParts, OfATraceAreThoseOfItsSpans) {
    Trace trace;
    Span span;
    EXPECT_EQ(trace.exposed_by(span), DurationByKind{});
    span.exposed_parts = trace.exposed_parts.number(parts(1, 2));
    EXPECT_EQ(trace.exposed_by(span), parts(1, 2));
    const Trace copied = trace;
    EXPECT_EQ(copied, trace);
    EXPECT_EQ(copied.exposed_by(span), parts(1, 2));
}

/// A trace of ten million of them must fit a laptop beside its document.
TEST(Span, TakesLessThanAHundredBytes) {
    EXPECT_LE(sizeof(Span), 96U);
}

}  // namespace
}  // namespace debubble
