#include "trace/picture/shapes/svg.h"

#include <sstream>

#include <gmock/gmock.h>

#include "schedule/generators/generators.h"
#include "tests/trace/trace_of.h"
#include "trace/picture/document/palette.h"

namespace debubble {
namespace {

using testing::HasSubstr;
using testing::Not;

Trace pipeline(const char* name, const PipelineShape& shape) {
    PipelineCosts costs = unit_costs(std::chrono::milliseconds(10));
    costs.link = std::chrono::microseconds(300);
    return trace_of(generate(name, shape), costs);
}

std::string svg(const Trace& trace, const SvgOptions& options = {}) {
    std::ostringstream out;
    write_svg(trace, statistics(trace), options, out);
    return out.str();
}

std::size_t count(const std::string& text, const std::string& word) {
    std::size_t n = 0;
    for (auto at = text.find(word); at != std::string::npos; at = text.find(word, at + 1)) ++n;
    return n;
}

/// Checks that every element is closed in order, with only text and entities in between.
bool is_well_formed(const std::string& xml) {
    std::vector<std::string> open;
    for (std::size_t at = xml.find('<'); at != std::string::npos; at = xml.find('<', at + 1)) {
        const std::size_t end = xml.find('>', at);
        if (end == std::string::npos) return false;
        const std::string tag = xml.substr(at + 1, end - at - 1);
        if (tag.find('<') != std::string::npos) return false;
        const std::string name = tag.substr(0, tag.find_first_of(" /\n", 1));
        if (tag[0] == '/') {
            if (open.empty() || open.back() != tag.substr(1)) return false;
            open.pop_back();
        } else if (tag.back() != '/') {
            open.push_back(name);
        }
    }
    return open.empty();
}

TEST(Svg, NamesEverySpanAndEveryBubbleOfASmallTrace) {
    const Trace trace = pipeline("1f1b", {4, 1, 8});
    const std::string picture = svg(trace);
    ASSERT_TRUE(is_well_formed(picture));
    for (const Span& span : trace.spans)
        EXPECT_THAT(picture, HasSubstr("<title>" + to_text(span.action) + " "));
    EXPECT_EQ(count(picture, "<title>bubble \u00b7 "), statistics(trace).bubbles.size());
    EXPECT_THAT(picture, HasSubstr(" \u00b7 warm-up: before its first compute, 1F0</title>"));
    EXPECT_THAT(picture, HasSubstr(">F7</text>")) << "letter and number are the second channel";
}

/// A pair of 10 ms whose forward has its all-to-all while its backward computes.
Trace with_pair() {
    const Compute f{Pass::Forward, Stage{0}, MicroBatch{3, {}}};
    const Compute b{Pass::Backward, Stage{0}, MicroBatch{2, {}}};
    const auto ms = [](int at) { return Instant{std::chrono::milliseconds(at)}; };
    Trace trace;
    trace.spans = {{Rank{0}, 0, Lane::Compute, Overlap{f, b}, ms(0), ms(10), {}, {}}};
    using enum PairStep;
    trace.pair_parts = {{Rank{0}, 0, Lane::Compute, Attention, f, 5, ms(0), ms(2)},
                        {Rank{0}, 0, Lane::Collective, Dispatch, f, 5, ms(2), ms(6)},
                        {Rank{0}, 0, Lane::Compute, Experts, b, 4, ms(2), ms(5)},
                        {Rank{0}, 0, Lane::Compute, ExpertWeights, b, 4, ms(5), ms(10)}};
    return trace;
}

TEST(Svg, DrawsTheComputesAndExchangesOfAPairWhereTheyHaveRoom) {
    const std::string picture = svg(with_pair());
    ASSERT_TRUE(is_well_formed(picture));
    for (const char* part : {"<title>0F3 \u00b7 attention of layer 5 \u00b7 2 ms from 0 ns",
                             "<title>0F3 \u00b7 dispatch of layer 5 \u00b7 4 ms from 2 ms",
                             "<title>0B2 \u00b7 experts of layer 4 \u00b7 3 ms from 2 ms",
                             "<title>0B2 \u00b7 expert weights of layer 4 \u00b7 5 ms from 5 ms",
                             ">F3 dispatch</text>", ">B2 experts</text>", ">weight gradient"})
        EXPECT_THAT(picture, HasSubstr(part));
    Trace narrow = with_pair();
    narrow.spans.push_back({Rank{0},
                            0,
                            Lane::Compute,
                            OptimizerStep{},
                            Instant{std::chrono::seconds(10)},
                            Instant{std::chrono::seconds(11)},
                            {},
                            {}});
    EXPECT_THAT(svg(narrow), Not(HasSubstr("attention of layer"))) << "too narrow to be seen";
}

TEST(Svg, LetsThePointerThroughTheWordsOfABubble) {
    const std::string picture = svg(pipeline("1f1b", {4, 1, 8}));
    EXPECT_THAT(picture, HasSubstr(">warm-up 30.9 ms</text>"));
    const std::size_t plates = count(picture, " pointer-events=\"none\"/>\n<g font-size=");
    EXPECT_GE(plates, 6U);
}

TEST(Svg, ShowsInTheLegendWhatOccursAndNothingElse) {
    const std::string picture = svg(pipeline("1f1b", {4, 1, 8}));
    EXPECT_THAT(picture, HasSubstr(">forward (F)<"));
    EXPECT_THAT(picture, Not(HasSubstr("weight gradient")));
    EXPECT_THAT(picture, Not(HasSubstr(">live<"))) << "memory was not followed";
    EXPECT_THAT(svg(pipeline("zb-h1", {4, 1, 8})), HasSubstr("weight gradient"));
}

Trace with_memory(Trace trace, std::int64_t gib) {
    const Bytes held{gib << 30};
    trace.memory.push_back({trace.spans.front().begin, held, Rank{0}, MemoryClass::Activations});
    MemoryPeak peak{trace.spans.front().begin, {}, "0F0", "gelu"};
    peak.held[static_cast<std::size_t>(MemoryClass::Activations)] = held;
    trace.peaks = {peak};
    return trace;
}

TEST(Svg, SaysWhichRankIsOverTheLimitAndWhereItPeaks) {
    const SvgOptions options{"", "", Bytes{80LL << 30}};
    const std::string over = svg(with_memory(pipeline("1f1b", {1, 1, 2}), 88), options);
    EXPECT_THAT(over, HasSubstr(">88.0/80.0 GiB OOM<"));
    EXPECT_THAT(over, HasSubstr("<title>peak 88.00 GiB at 0F0, gelu\n"));
    const std::string under = svg(with_memory(pipeline("1f1b", {1, 1, 2}), 80), options);
    EXPECT_THAT(under, HasSubstr(">80.0/80.0 GiB<")) << "exactly the limit fits";
    EXPECT_TRUE(is_well_formed(over));
}

TEST(Svg, WritesAnyTitleAsValidXml) {
    const std::string picture =
        svg({}, {"<a & \"b\">\x01\xff\xed\xa0\x80 \u00e9", "</text>", std::nullopt});
    EXPECT_TRUE(is_well_formed(picture));
    EXPECT_THAT(picture, HasSubstr("&lt;a &amp; &quot;b&quot;&gt;????? \u00e9<"));
}

TEST(Svg, StaysBelowThreeMegabytesHoweverManySpans) {
    for (const PipelineShape shape :
         {PipelineShape{8, 1, 350}, PipelineShape{8, 1, 5000}, PipelineShape{64, 1, 900}}) {
        const Trace trace = pipeline("1f1b", shape);
        EXPECT_LT(svg(trace).size(), 3'000'000U) << trace.spans.size() << " spans";
    }
}

TEST(Svg, StacksThinBarsByTheirShares) {
    // F and B alternate far below a pixel, in equal parts: half of the height each.
    Trace trace;
    for (int i = 0; i < 40'000; ++i) {
        const Instant begin{std::chrono::microseconds(i)};
        const Pass pass = i % 2 == 0 ? Pass::Forward : Pass::Backward;
        trace.spans.push_back({Rank{0},
                               0,
                               Lane::Compute,
                               Compute{pass, Stage{0}, {i / 2, {}}},
                               begin,
                               begin + std::chrono::microseconds(1),
                               {},
                               {}});
    }
    const std::string picture = svg(trace);
    const Rgb f = kLightPalette[Paint::Forward];
    const Rgb b = kLightPalette[Paint::Backward];
    EXPECT_EQ(count(picture, "<path fill=\"" + hex(f)), 1U);
    EXPECT_EQ(count(picture, "<path fill=\"" + hex(b)), 1U);
    EXPECT_EQ(count(picture, "<title>0F"), 0U);
}

TEST(Svg, LabelsBothComputesOfAnOverlap) {
    Trace trace;
    const Overlap both{{Pass::Forward, Stage{1}, {4, {}}}, {Pass::Backward, Stage{2}, {3, {}}}};
    trace.spans.push_back({Rank{0},
                           0,
                           Lane::Compute,
                           both,
                           Instant{},
                           Instant{std::chrono::milliseconds(5)},
                           {},
                           {}});
    const std::string picture = svg(trace);
    EXPECT_THAT(picture, HasSubstr(">1F4</text>"));
    EXPECT_THAT(picture, HasSubstr(">2B3</text>"));
    EXPECT_EQ(count(picture, "<title>(1F4;2B3)OVERLAP_F_B "), 2U) << "one for each half";
}

TEST(Svg, IsTheSameBytesForTheSameTrace) {
    EXPECT_EQ(svg(pipeline("zb-h1", {4, 1, 8})), svg(pipeline("zb-h1", {4, 1, 8})));
}

TEST(Svg, LaysTwoTimelinesOnOneScale) {
    const Trace slow = pipeline("1f1b", {4, 1, 8});
    Trace fast = slow;
    for (Span& span : fast.spans) {
        span.begin = Instant{span.begin.time_since_epoch() / 2};
        span.end = Instant{span.end.time_since_epoch() / 2};
    }
    const Statistics of_slow = statistics(slow);
    const Statistics of_fast = statistics(fast);
    SvgPanel above{&slow, &of_slow, {}};
    SvgPanel below{&fast, &of_fast, {}};
    above.options.title = "slow";
    below.options.title = "fast";
    std::ostringstream out;
    write_svg_pair(above, below, out);
    const std::string both = out.str();
    ASSERT_TRUE(is_well_formed(both));
    EXPECT_EQ(count(both, "<svg "), 3U);
    EXPECT_EQ(count(both, ">300 ms</text>"), 2U) << "beyond the end of the fast one";
    EXPECT_EQ(count(svg(fast), ">300 ms</text>"), 0U);
    EXPECT_LT(both.find("slow"), both.find("fast"));
}

TEST(Svg, DrawsTheFirstRanksOfVeryManyAndSaysSo) {
    const std::string picture = svg(pipeline("gpipe", {130, 1, 1}));
    EXPECT_THAT(picture, HasSubstr("the first 128 of 130 ranks are drawn"));
    EXPECT_THAT(picture, Not(HasSubstr(">rank 128<")));
}

TEST(Palette, InkCanBeReadOnEveryColour) {
    const auto paints = {Paint::Forward, Paint::Backward, Paint::Weight, Paint::Optimizer};
    std::string ink;
    for (const Paint paint : paints) ink += hex(ink_on(kLightPalette[paint])) + " ";
    EXPECT_EQ(ink, "#000000 #000000 #FFFFFF #000000 ");
}

}  // namespace
}  // namespace debubble
