#include <cmath>

#include "tests/exec/cpu/gradients.h"

/// The oracle's backwards of attention are the derivatives of its forwards.
namespace debubble::exec {
namespace {

struct AttentionCase {
    std::string name;
    std::int64_t queries, keys, heads, kv_heads;
    Attention attention;
    friend void PrintTo(const AttentionCase& which, std::ostream* out) { *out << which.name; }
};

Attention attends(bool causal, std::int64_t first_query = 0) {
    return {causal, first_query, 0.5, {}};
}

Attention through_window(std::int64_t window, Attention attention) {
    attention.window = window;
    return attention;
}

Attention in_chunks(std::int64_t chunk, Attention attention) {
    attention.chunk = chunk;
    return attention;
}

Attention capped(Attention attention) {
    attention.soft_cap = 0.7;
    return attention;
}

Attention lowered(Attention attention) {
    attention.alibi = Alibi{6, 3};
    return attention;
}

Attention with_dropout(Attention attention) {
    attention.dropout = AttentionDropout{{0.3, {11, 5}}, 6, 9, 3, 1};
    return attention;
}

std::vector<AttentionCase> attention_cases() {
    return {{"causal", 5, 5, 2, 2, attends(true)},
            {"full", 5, 7, 2, 2, attends(false)},
            {"grouped", 5, 5, 4, 2, attends(true)},
            {"slice", 3, 7, 4, 2, attends(true, 4)},
            {"earlier_slice", 3, 7, 2, 1, attends(true, 2)},
            {"blocks", 70, 70, 1, 1, attends(true)},
            {"slice_in_second_block", 3, 70, 2, 1, attends(true, 65)},
            {"dropout", 4, 9, 4, 2, with_dropout(attends(true, 5))},
            {"window", 7, 7, 2, 2, through_window(3, attends(true))},
            {"window_of_two", 4, 4, 2, 1, through_window(2, attends(true))},
            {"slice_through_a_window", 3, 9, 2, 1, through_window(4, attends(true, 5))},
            {"chunks", 7, 7, 2, 2, in_chunks(3, attends(true))},
            {"capped", 5, 5, 4, 2, capped(attends(true))},
            {"alibi", 5, 5, 3, 3, lowered(attends(true))},
            {"alibi_of_a_slice", 3, 9, 2, 1, lowered(through_window(6, attends(true, 5)))},
            {"capped_window_with_dropout", 4, 9, 4, 2,
             capped(through_window(3, with_dropout(attends(true, 5))))}};
}

class AttentionGradients : public testing::TestWithParam<AttentionCase> {};

TEST_P(AttentionGradients, AreFiniteDifferences) {
    const auto& [name, queries, keys, heads, kv_heads, attention] = GetParam();
    const std::int64_t samples = keys > 20 ? 1 : 2;
    const Tensor q = random_fp64({samples, queries, heads, 3}, 1);
    const Tensor k = random_fp64({samples, keys, kv_heads, 3}, 2);
    const Tensor v = random_fp64({samples, keys, kv_heads, 3}, 3), dout = random_fp64(q.shape(), 4);
    const Tensor out = zeros(q.shape()), log_sum = zeros({samples, heads, queries});
    const auto loss = [&, &how = attention] {
        oracle.attention_forward(how, q.view(), k.view(), v.view(), out.view(), log_sum.view());
        return dot_of(out, dout);
    };
    loss();
    const Tensor dq = zeros(q.shape()), dk = zeros(k.shape()), dv = zeros(v.shape());
    oracle.attention_backward_input(attention, dout.view(), q.view(), k.view(), v.view(),
                                    out.view(), log_sum.view(), dq.view(), dk.view(), dv.view());
    expect_gradient(q, dq, loss, "q");
    expect_gradient(k, dk, loss, "k");
    expect_gradient(v, dv, loss, "v");
}

/// Values are wider than keys here, and every head has a sink.
TEST_P(AttentionGradients, AreFiniteDifferencesWithSinks) {
    const auto& [name, queries, keys, heads, kv_heads, attention] = GetParam();
    const std::int64_t samples = keys > 20 ? 1 : 2;
    const Tensor q = random_fp64({samples, queries, heads, 3}, 1);
    const Tensor k = random_fp64({samples, keys, kv_heads, 3}, 2);
    const Tensor v = random_fp64({samples, keys, kv_heads, 4}, 3), sinks = random_fp64({heads}, 5);
    const Tensor dout = random_fp64({samples, queries, heads, 4}, 4), out = zeros(dout.shape());
    const Tensor log_sum = zeros({samples, heads, queries});
    const auto loss = [&, &how = attention] {
        oracle.attention_forward(how, q.view(), k.view(), v.view(), out.view(), log_sum.view());
        oracle.sinks_forward(sinks.view(), out.view(), log_sum.view());
        return dot_of(out, dout);
    };
    loss();
    const Tensor dq = zeros(q.shape()), dk = zeros(k.shape()), dv = zeros(v.shape());
    const Tensor dsinks = zeros({heads});
    oracle.attention_backward_input(attention, dout.view(), q.view(), k.view(), v.view(),
                                    out.view(), log_sum.view(), dq.view(), dk.view(), dv.view());
    oracle.sinks_backward_weight(dout.view(), out.view(), log_sum.view(), sinks.view(),
                                 dsinks.view());
    expect_gradient(q, dq, loss, "q");
    expect_gradient(k, dk, loss, "k");
    expect_gradient(v, dv, loss, "v");
    expect_gradient(sinks, dsinks, loss, "sinks");
}

INSTANTIATE_TEST_SUITE_P(All, AttentionGradients, testing::ValuesIn(attention_cases()),
                         [](const auto& test) { return test.param.name; });

/// Press et al. 2022: of 8 heads 1/2, 1/4, .. 1/256; of 16 the roots between them too. MPT's 12
/// heads have eight of the sixteen slopes before four others.
TEST(Alibi, HasThePublishedSlopes) {
    for (int head = 0; head < 8; ++head)
        EXPECT_DOUBLE_EQ(Alibi({8, 0}).slope(head), std::pow(2, -(head + 1)));
    for (int head = 0; head < 16; ++head)
        EXPECT_DOUBLE_EQ(Alibi({16, 0}).slope(head), std::pow(2, -0.5 * (head + 1)));
    for (int head = 0; head < 12; ++head)
        EXPECT_DOUBLE_EQ(Alibi({12, 0}).slope(head),
                         head < 8 ? std::pow(2, -(head + 1)) : std::pow(2, -0.5 - (head - 8)));
    EXPECT_DOUBLE_EQ(Alibi({8, 4}).slope(1), std::pow(2, -6)) << "of a later rank";
}

}  // namespace
}  // namespace debubble::exec
