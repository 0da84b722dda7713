#include <gmock/gmock.h>

#include "gui/viewmodel/export.h"
#include "gui/viewmodel/timeline/wording.h"
#include "scenarios/read/read_scenario.h"
#include "sim/predict.h"
#include "trace/picture/document/document.h"
#include "trace/picture/document/link_table.h"
#include "trace/picture/rows.h"

namespace debubble::gui {
namespace {

using picture::LinkStretch;
using picture::LinkTable;

sim::PredictionWithTrace predicted(const std::string& scenario,
                                   const std::vector<scenarios::Override>& set = {}) {
    sim::PredictOptions options;
    options.play_allocator = false;
    return sim::predict(scenarios::read_scenario(scenario, set), options);
}

Document document_of_plan(sim::PredictionWithTrace plan) {
    picture::DocumentFacts facts;
    facts.link_table = plan.links;
    return make_document(std::move(plan.trace), std::move(plan.statistics), plan.memory_limit, {},
                         std::move(facts));
}

TEST(LinkLanes, have_the_links_that_a_plan_uses) {
    // Tensor 8 fills a node of GPT-3's plan, and stages lie on different ones.
    const auto both = predicted("gpt3-175b");
    ASSERT_TRUE(both.links);
    ASSERT_EQ(both.links->classes.size(), 2U);
    EXPECT_EQ(both.links->classes[0].name, "node");
    EXPECT_EQ(both.links->classes[1].name, "network");
    EXPECT_EQ(both.links->use_of_span.size(), both.trace.spans.size());
    const auto node = predicted("gpt3-175b", {{"parallel.pipeline", "1"},
                                              {"schedule", "1f1b"},
                                              {"nodes", "1"},
                                              {"parallel.stages_per_rank", "1"}});
    ASSERT_TRUE(node.links);
    EXPECT_EQ(node.links->classes.size(), 1U) << "nothing leaves the node";
}

TEST(LinkLanes, lie_within_their_action_and_use_no_more_than_the_limit) {
    for (const char* scenario : {"gpt3-175b", "gpt2-xl-zb-v", "a40-fsdp-7b", "deepseek-v3"}) {
        const auto plan = predicted(scenario);
        ASSERT_TRUE(plan.links) << scenario;
        for (std::uint32_t i = 0; i < plan.trace.spans.size(); ++i)
            for (const LinkStretch& stretch : plan.links->of(i)) {
                ASSERT_LT(stretch.of, plan.links->classes.size());
                ASSERT_GE(stretch.begin, 0) << scenario;
                ASSERT_LE(stretch.end, 1 + 1e-9) << scenario;
                ASSERT_LT(stretch.begin, stretch.end) << scenario;
                ASSERT_GT(stretch.busy_s, 0) << scenario;
            }
        const Document document = document_of_plan(predicted(scenario));
        for (const Device& device : document->devices)
            for (std::size_t of = 0; of < document->link_table->classes.size(); ++of) {
                const double mean = mean_link_use(*document, device, of);
                EXPECT_LE(mean, 1) << scenario;
                // The lane's columns have the same mean, except where two actions send at once.
                const std::vector<float> use =
                    link_use(*document, device, of, TimeAxis(document->range, 1000));
                double sum = 0;
                for (const float share : use) {
                    EXPECT_LE(share, 1);
                    sum += share;
                }
                EXPECT_NEAR(sum / 1000, mean, 0.02) << scenario;
            }
    }
}

/// The time of a message is its bytes over the limit of the sender's link.
TEST(LinkLanes, of_a_message_are_its_bytes_over_the_limit) {
    const auto plan = predicted("gpt3-175b");
    std::size_t messages = 0;
    for (std::uint32_t i = 0; i < plan.trace.spans.size(); ++i) {
        const Span& span = plan.trace.spans[i];
        if (!std::holds_alternative<Send>(span.action)) continue;
        const auto& stretches = plan.links->of(i);
        ASSERT_EQ(stretches.size(), 1U);
        EXPECT_EQ(stretches[0].of, 1U);  // pipeline ranks are nodes apart
        const double limit = plan.links->classes[1].limits[std::size_t(span.rank.index)].value;
        // Exact to the nanosecond.
        EXPECT_NEAR(stretches[0].busy_s, double(span.bytes.count) / limit, 1e-9);
        ++messages;
    }
    EXPECT_GT(messages, 100U);
    EXPECT_LT(plan.links->uses.size(), 400U) << "equal messages and passes share their stretches";
}

TEST(LinkLanes, say_at_the_pointer_what_is_sent_there) {
    const Document document = document_of_plan(predicted("gpt3-175b"));
    const Device& device = document->devices[1];
    // In the middle of the first message of rank 1 the network is used, and nothing before it.
    for (std::uint32_t i = 0; i < document->trace.spans.size(); ++i) {
        const Span& span = document->trace.spans[i];
        if (span.rank != device.rank || !std::holds_alternative<Send>(span.action)) continue;
        const auto used = [&](Instant at) {
            for (const Detail& detail : details_of_links(*document, device, 1, at))
                if (detail.name == "used") return detail.value;
            return std::string();
        };
        EXPECT_EQ(used(document->range.begin), "0.0 % of 23 GB/s");
        const std::string there = used(span.begin + span.length() / 2);
        EXPECT_THAT(there, testing::EndsWith(" % of 23 GB/s"));
        EXPECT_GT(std::stod(there), 50) << there;
        return;
    }
    ADD_FAILURE() << "no message";
}

/// A trace has the sizes of messages and collectives, but neither the links that carry them nor
/// their limits.
TEST(LinkLanes, of_a_trace_without_its_plan_are_what_it_says_of_messages) {
    auto plan = predicted("gpt3-175b");
    const Document document = make_document(plan.trace, std::nullopt);
    ASSERT_TRUE(document->link_table);
    ASSERT_EQ(document->link_table->classes.size(), 1U);
    const picture::LinkClass& sent = document->link_table->classes[0];
    EXPECT_EQ(sent.title(), "sent");
    EXPECT_FALSE(sent.known_limits);
    double bytes = 0;
    for (const Span& span : plan.trace.spans)
        if (std::holds_alternative<Send>(span.action) && span.rank == Rank{3})
            bytes += static_cast<double>(span.bytes.count);
    const Device& device = *document->device_of(Rank{3});
    const double rate = mean_link_use(*document, device, 0) * sent.limits[3].value;
    EXPECT_GT(bytes, 0);
    EXPECT_GE(rate * seconds(document->range.length()), 0.99 * bytes);
    EXPECT_THAT(picture::link_words(*document, device, 0), testing::HasSubstr(" GB/s, at most "));
    EXPECT_EQ(picture::same_class(*document, 0, *document_of_plan(predicted("gpt3-175b"))),
              std::nullopt)
        << "a plan has other classes of links";
    for (Span& span : plan.trace.spans) span.bytes = Bytes{};
    const Document bare = make_document(std::move(plan.trace), std::nullopt);
    EXPECT_FALSE(bare->link_table);
    EXPECT_THAT(picture::why_no_links(*bare), testing::HasSubstr("no sizes of messages"));
}

TEST(LinkLanes, are_rows_below_their_rank_where_somebody_asks_for_them) {
    const Document document = document_of_plan(predicted("gpt3-175b"));
    const RowLayout one = lay_out(*document, {.link_use = {2}}, {}, 700);
    ASSERT_EQ(one.rows.size(), 8U + 2U);
    EXPECT_EQ(one.rows[3].links_of, 0U);
    EXPECT_EQ(one.rows[4].links_of, 1U);
    EXPECT_EQ(one.rows[3].device, 2U);
    EXPECT_EQ(one.row_of(2), &one.rows[2]);
    EXPECT_EQ(lay_out(*document, {.all_link_use = true}, {}, 700).rows.size(), 8U * 3U);
    Exhibit exhibit = read_exhibit("gpt3-175b", {});
    EXPECT_THAT(exported(exhibit, ExportFormat::Svg),
                testing::Not(testing::HasSubstr("node links")));
    exhibit.picture.draw_links = true;
    EXPECT_THAT(exported(exhibit, ExportFormat::Svg), testing::HasSubstr("network links"));
}

}  // namespace
}  // namespace debubble::gui
