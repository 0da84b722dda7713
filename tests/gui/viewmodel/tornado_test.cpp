#include "gui/viewmodel/what_if/tornado.h"

#include <algorithm>

#include <gmock/gmock.h>

#include "gui/viewmodel/timeline/highlight.h"
#include "gui/viewmodel/what_if/answer.h"
#include "gui/viewmodel/what_if/knobs.h"
#include "sim/bill_rows.h"
#include "tests/gui/viewmodel/shipped.h"

namespace debubble::gui {
namespace {

using testing::Contains;
using testing::HasSubstr;
using testing::Not;

std::vector<std::string> names_of(const std::vector<Lever>& levers) {
    std::vector<std::string> names;
    for (const Lever& lever : levers) names.push_back(lever.name());
    return names;
}

TEST(Tornado, has_the_step_at_half_and_at_twice_of_each_constant_the_longest_bar_first) {
    const ScenarioText source = shipped("gpt3-175b");
    const auto tornado = tornado_of(source);
    ASSERT_TRUE(tornado);
    EXPECT_EQ(tornado->step_s, answer(source).plan->prediction.step_time_s);
    ASSERT_EQ(tornado->bars.size(), 6U);
    for (std::size_t i = 0; i < tornado->bars.size(); ++i) {
        const TornadoBar& bar = tornado->bars[i];
        ASSERT_TRUE(bar.step_at_half_s && bar.step_at_twice_s) << bar.lever.name();
        const Answer half = answer(with_lever(source, bar.lever, 0.5));
        ASSERT_TRUE(half.plan) << half.mistakes[0].message;
        EXPECT_EQ(half.plan->prediction.step_time_s, *bar.step_at_half_s) << bar.lever.name();
        const bool slows = bar.lever.name() == "latency" || bar.lever.name() == "jitter";
        const double more = *bar.step_at_twice_s - *bar.step_at_half_s;
        EXPECT_GE(slows ? more : -more, 0) << bar.lever.name();
        if (i > 0) {
            EXPECT_GE(tornado->bars[i - 1].reach(tornado->step_s), bar.reach(tornado->step_s));
        }
    }
    EXPECT_EQ(tornado->bars[0].lever.name(), "GPU") << "GEMMs take most of this step";
}

TEST(Tornado, of_one_node_has_no_network_and_of_an_impossible_plan_there_is_none) {
    const auto levers = levers_of(answer(shipped("gpt2-xl-1f1b")).plan->scenario);
    EXPECT_THAT(names_of(levers), Not(Contains("network")));
    EXPECT_THAT(names_of(levers), Contains("node links"));
    EXPECT_FALSE(tornado_of(with_change(shipped("gpt2-xl-1f1b"), "parallel.tensor", "3")));
}

TEST(Tornado, of_a_cluster_that_an_included_file_names_changes_that_cluster) {
    const ScenarioText source = shipped("gpt2-xl-1f1b");
    ASSERT_EQ(source.text.find("cluster"), std::string::npos);
    const auto tornado = tornado_of(source);
    ASSERT_TRUE(tornado);
    for (const TornadoBar& bar : tornado->bars)
        EXPECT_TRUE(bar.step_at_half_s && bar.step_at_twice_s) << bar.lever.name();
    EXPECT_EQ(tornado->bars[0].lever.name(), "GPU");
}

TEST(Tornado, a_place_on_a_bar_is_a_factor_and_back) {
    const TornadoBar bar{Lever("x", {{"cluster.node_link.bandwidth", 1e9, Lever::Unit::Rate}}), 12,
                         9};
    EXPECT_DOUBLE_EQ(factor_for(bar, 10, 12), 0.5);
    EXPECT_DOUBLE_EQ(factor_for(bar, 10, 9), 2);
    EXPECT_DOUBLE_EQ(factor_for(bar, 10, 10), 1);
    EXPECT_DOUBLE_EQ(factor_for(bar, 10, 99), 0.5) << "a bar ends at half";
    for (const double factor : {0.5, 0.7, 1.0, 1.3, 2.0})
        EXPECT_NEAR(factor_for(bar, 10, step_for(bar, 10, factor)), factor, 1e-12);
    EXPECT_EQ(bar.lever.words(0.5), "0.5 GB/s");
    const Lever jitter("jitter", {{"imbalance.jitter", 0, Lever::Unit::Share}});
    EXPECT_EQ(jitter.at(2)[0].second, "0.02") << "half of 0 and twice 0 would be equal";
    EXPECT_EQ(jitter.at(0.5)[0].second, "0");
}

TEST(Knobs, are_changes_that_shorten_the_step_of_as_many_tokens_and_fit) {
    const ScenarioText source = shipped("gpt2-xl-1f1b");
    const Answer now = answer(source);
    const sim::Bill bill = sim::bill_of_plan(now.plan->played);
    const std::vector<Knob> knobs = knobs_of(source, bill, now.plan->prediction);
    ASSERT_FALSE(knobs.empty());
    bool of_warm_up = false;
    for (const Knob& knob : knobs) {
        of_warm_up = of_warm_up || knob.part == "warm_up";
        const Answer then = answer(with_change(source, knob.change.first, knob.change.second));
        ASSERT_TRUE(then.plan) << knob.words;
        EXPECT_TRUE(then.plan->prediction.fits) << knob.words;
        EXPECT_EQ(then.plan->prediction.step_time_s, knob.step_time_s) << knob.words;
        EXPECT_GT(then.plan->prediction.tokens_per_s, now.plan->prediction.tokens_per_s);
        EXPECT_THAT(knob.words, HasSubstr(": -"));
    }
    EXPECT_TRUE(of_warm_up) << "zero-bubble schedules shorten it";
}

TEST(Highlight,
     bubbles_of_a_part_are_those_of_its_cause_and_passes_of_it_expose_that_communication) {
    const Document document = answer(shipped("gpt3-175b")).plan->document;
    const Highlight warm_up = highlight_of(*document, "warm_up", BubbleCause::WarmUp);
    ASSERT_TRUE(warm_up.any());
    EXPECT_TRUE(warm_up.causes[BubbleCause::WarmUp]);
    EXPECT_EQ(std::ranges::count(*warm_up.spans, true), 0);
    const Highlight tensor = highlight_of(*document, "exposed_tp");
    Duration exposed{};
    for (std::size_t i = 0; i < tensor.spans->size(); ++i) {
        const Span& span = document->span(i);
        const Duration own = document->trace.exposed_by(span)[0];
        EXPECT_EQ((*tensor.spans)[i], own > Duration{});
        if ((*tensor.spans)[i]) exposed += own;
    }
    Duration all{};
    for (const auto& device : document->devices) all += device.exposed_by[0];
    EXPECT_EQ(exposed, all) << "nothing exposed stays dark";
    EXPECT_FALSE(highlight_of(*document, "").any());
    EXPECT_FALSE(highlight_of(*document, "nobody").any());
}

TEST(Highlight, every_part_of_a_bill_lights_something) {
    const Answer now = answer(shipped("deepseek-v3"));
    for (const sim::BillPart& part : sim::bill_of_plan(now.plan->played).parts) {
        const Highlight lit = highlight_of(*now.plan->document, part.key, part.idle);
        ASSERT_TRUE(lit.any()) << part.key;
        EXPECT_TRUE(std::ranges::count(*lit.spans, true) > 0 ||
                    std::ranges::count(lit.causes, true) > 0)
            << part.key;
    }
}

}  // namespace
}  // namespace debubble::gui
