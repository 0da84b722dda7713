#include "trace/span_table.h"

#include <set>

#include <gtest/gtest.h>

namespace debubble {
namespace {

Span span_of(Action action, std::int32_t replica) {
    return {Rank{0}, replica, Lane::Compute, std::move(action), {}, {}, {}, {}};
}

Message message_at(int stage, int micro_batch, std::optional<std::int16_t> slice,
                   Message::Kind kind) {
    return {kind, Stage{stage}, {micro_batch, slice}};
}

/// Messages of two replicas, three stages and the microbatches, whole and in two slices.
std::vector<std::pair<Message, std::int32_t>> messages_of(const std::vector<int>& micro_batches) {
    std::vector<std::pair<Message, std::int32_t>> all;
    for (std::int32_t replica = 0; replica < 2; ++replica)
        for (int stage = 0; stage < 3; ++stage)
            for (const int mb : micro_batches)
                for (const auto kind : {Message::Kind::Activation, Message::Kind::Gradient})
                    for (const auto slice : {std::optional<std::int16_t>{}, {0}, {1}})
                        all.push_back({message_at(stage, mb, slice, kind), replica});
    return all;
}

void expect_numbers_of_their_own(const std::vector<int>& micro_batches) {
    const auto messages = messages_of(micro_batches);
    Trace trace;
    for (const auto& [message, replica] : messages)
        trace.spans.push_back(span_of(Send{message, {}}, replica));
    const MessageNumbers numbers(trace);
    std::set<std::uint32_t> met;
    for (const auto& [message, replica] : messages) {
        const auto number = numbers.of(message, replica);
        ASSERT_TRUE(number);
        EXPECT_LT(*number, numbers.count());
        EXPECT_TRUE(met.insert(*number).second);
    }
    EXPECT_EQ(numbers.of(message_at(3, 0, {}, Message::Kind::Activation), 0), std::nullopt);
    EXPECT_EQ(numbers.of(message_at(0, -1, {}, Message::Kind::Activation), 0), std::nullopt);
    EXPECT_EQ(numbers.of(message_at(0, 0, {}, Message::Kind::Activation), 2), std::nullopt);
}

TEST(MessageNumbers, AreDifferentForDifferentMessages) {
    expect_numbers_of_their_own({0, 1, 2, 3});
}

/// Extents whose product does not fit into any table, as a trace from a file may claim.
TEST(MessageNumbers, AreThoseOfTheMessagesSeenWhereTheirPlacesAreFarApart) {
    expect_numbers_of_their_own({0, 1, 2'000'000'000});
}

TEST(MessageNumbers, AreNoneInATraceWithoutMessages) {
    const MessageNumbers numbers(Trace{});
    EXPECT_EQ(numbers.count(), 0U);
    EXPECT_EQ(numbers.of(message_at(0, 0, {}, Message::Kind::Activation), 0), std::nullopt);
}

}  // namespace
}  // namespace debubble
