#include "exec/core/stage/rope_table.h"
#include "tests/exec/support/tensors.h"
#include "tests/oracle/oracle.h"

/// The oracle's backwards are the derivatives of its forwards.
namespace debubble::exec {
namespace {

/// The loss of every test is the dot product of the operator's output with `dy`, so dy is
/// the output's gradient.
Tensor random(const Shape& shape, unsigned seed) {
    return random_tensor<double>(shape, seed);
}
Tensor zeros(const Shape& shape) {
    return Tensor(shape, DataType::Fp64);
}
Oracle oracle;

double dot_of(const Tensor& a, const Tensor& b) {
    return dot(a.as<double>(), b.as<double>());
}

class LinearGradients : public testing::TestWithParam<WeightLayout> {};

TEST_P(LinearGradients, AreFiniteDifferences) {
    const bool conv = GetParam() == WeightLayout::InputsOutputs;
    const Tensor x = random({3, 5}, 1);
    const Tensor weight = random(conv ? Shape{5, 4} : Shape{4, 5}, 2);
    const Tensor bias = random({4}, 3);
    const Tensor dy = random({3, 4}, 4);
    const auto loss = [&] {
        const Tensor y = zeros({3, 4});
        oracle.linear_forward(GetParam(), x.view(), weight.view(), bias.view(), y.view());
        return dot_of(y, dy);
    };
    const Tensor dx = zeros({3, 5});
    const Tensor dweight = zeros(weight.shape());
    const Tensor dbias = zeros({4});
    oracle.linear_backward_input(GetParam(), dy.view(), weight.view(), dx.view(), Write::Overwrite);
    oracle.linear_backward_weight(GetParam(), x.view(), dy.view(), dweight.view(), dbias.view());
    expect_gradient(x, dx, loss, "x");
    expect_gradient(weight, dweight, loss, "weight");
    expect_gradient(bias, dbias, loss, "bias");
}

INSTANTIATE_TEST_SUITE_P(Layouts, LinearGradients,
                         testing::Values(WeightLayout::OutputsInputs, WeightLayout::InputsOutputs));

TEST(LayerNormGradients, AreFiniteDifferences) {
    const Tensor x = random({3, 20}, 1), weight = random({20}, 2), bias = random({20}, 3);
    const Tensor dy = random({3, 20}, 4), statistics = zeros({3, 2});
    const auto loss = [&] {
        const Tensor y = zeros({3, 20});
        oracle.layer_norm_forward(1e-5, x.view(), weight.view(), bias.view(), y.view(),
                                  statistics.view());
        return dot_of(y, dy);
    };
    loss();
    const Tensor dx = zeros({3, 20}), dweight = zeros({20}), dbias = zeros({20});
    oracle.layer_norm_backward_input(dy.view(), x.view(), weight.view(), statistics.view(),
                                     dx.view(), Write::Overwrite);
    oracle.layer_norm_backward_weight(dy.view(), x.view(), statistics.view(), dweight.view(),
                                      dbias.view());
    expect_gradient(x, dx, loss, "x");
    expect_gradient(weight, dweight, loss, "weight");
    expect_gradient(bias, dbias, loss, "bias");
}

TEST(RmsNormGradients, AreFiniteDifferences) {
    const Tensor x = random({3, 20}, 1), weight = random({20}, 2);
    const Tensor dy = random({3, 20}, 4), statistics = zeros({3});
    const auto loss = [&] {
        const Tensor y = zeros({3, 20});
        oracle.rms_norm_forward(1e-6, x.view(), weight.view(), y.view(), statistics.view());
        return dot_of(y, dy);
    };
    loss();
    const Tensor dx = zeros({3, 20}), dweight = zeros({20});
    oracle.rms_norm_backward_input(dy.view(), x.view(), weight.view(), statistics.view(), dx.view(),
                                   Write::Overwrite);
    oracle.rms_norm_backward_weight(dy.view(), x.view(), statistics.view(), dweight.view());
    expect_gradient(x, dx, loss, "x");
    expect_gradient(weight, dweight, loss, "weight");
}

TEST(ActivationGradients, AreFiniteDifferences) {
    for (const auto kind : {Nonlinearity::Gelu, Nonlinearity::GeluTanh, Nonlinearity::Relu}) {
        const Tensor x = random({4, 9}, 1), dy = random({4, 9}, 2), dx = zeros({4, 9});
        const auto loss = [&] {
            const Tensor y = zeros({4, 9});
            oracle.activation_forward(kind, x.view(), y.view());
            return dot_of(y, dy);
        };
        oracle.activation_backward_input(kind, dy.view(), x.view(), dx.view());
        expect_gradient(x, dx, loss, "nonlinearity " + std::to_string(static_cast<int>(kind)));
    }
}

TEST(SwigluGradients, AreFiniteDifferences) {
    const Tensor gate_up = random({4, 18}, 1), dy = random({4, 9}, 3), dgate_up = zeros({4, 18});
    const auto loss = [&] {
        const Tensor y = zeros({4, 9});
        oracle.swiglu_forward(gate_up.view(), y.view());
        return dot_of(y, dy);
    };
    oracle.swiglu_backward_input(dy.view(), gate_up.view(), dgate_up.view());
    expect_gradient(gate_up, dgate_up, loss, "gate and up");
}

TEST(RopeGradients, AreFiniteDifferences) {
    const Tensor cosines = zeros({9, 3}), sines = zeros({9, 3});
    rope_table(10000, cosines.as<double>(), sines.as<double>());
    const Tensor x = random({2, 4, 2, 6}, 1), dy = random({2, 4, 2, 6}, 2), dx = dy.clone();
    const auto loss = [&] {
        const Tensor y = x.clone();
        oracle.rope_forward(5, 2, cosines.view(), sines.view(), y.view());
        return dot_of(y, dy);
    };
    oracle.rope_backward_input(5, 2, cosines.view(), sines.view(), dx.view());
    expect_gradient(x, dx, loss, "x");
}

TEST(DropoutGradients, AreFiniteDifferences) {
    const Dropout dropout{0.4, {7, 3}};
    const Window window{9, 8, 2, 1, 3};
    const Tensor x = random({2, 4, 5}, 1), dy = random({2, 4, 5}, 2), dx = zeros({2, 4, 5});
    const auto loss = [&] {
        const Tensor y = zeros({2, 4, 5});
        oracle.dropout(dropout, window, x.view(), y.view());
        return dot_of(y, dy);
    };
    oracle.dropout(dropout, window, dy.view(), dx.view());
    expect_gradient(x, dx, loss, "x");
}

TEST(EmbeddingGradients, AreFiniteDifferences) {
    const Tensor tokens = integers({3, 1, 8, 3, 5, 3});  // 8 and 1 are of other shares
    const Tensor table = random({4, 5}, 1), positions = random({6, 5}, 2);
    const Tensor dy = random({2, 3, 5}, 3);
    const auto loss = [&] {
        const Tensor y = zeros({2, 3, 5});
        oracle.token_embedding_forward(tokens.view(), 2, table.view(), y.view());
        oracle.position_embedding_forward(2, y.view(), positions.view(), y.view());
        return dot_of(y, dy);
    };
    const Tensor dtable = zeros({4, 5}), dpositions = zeros({6, 5});
    oracle.token_embedding_backward_weight(tokens.view(), 2, dy.view(), dtable.view());
    oracle.position_embedding_backward_weight(2, dy.view(), dpositions.view());
    expect_gradient(table, dtable, loss, "table");
    expect_gradient(positions, dpositions, loss, "positions");
}

TEST(ClassTokenGradients, AreFiniteDifferences) {
    const Tensor patches = random({2, 3, 4}, 1), token = random({4}, 2),
                 positions = random({4, 4}, 3);
    const Tensor dfirst = random({2, 4}, 4), weights = random({2, 4, 4}, 5);
    const auto loss = [&] {
        const Tensor y = zeros({2, 4, 4}), first = zeros({2, 4});
        oracle.class_token_forward(patches.view(), token.view(), positions.view(), y.view());
        oracle.first_row_forward(y.view(), first.view());
        return dot_of(y, weights) + dot_of(first, dfirst);
    };
    const Tensor dy = zeros({2, 4, 4}), dpatches = zeros({2, 3, 4});
    const Tensor dtoken = zeros({4}), dpositions = zeros({4, 4});
    oracle.first_row_backward_input(dfirst.view(), dy.view());
    for (std::int64_t i = 0; i < 32; ++i) dy.as<double>()[i] += weights.as<double>()[i];
    oracle.class_token_backward_input(dy.view(), dpatches.view());
    oracle.class_token_backward_weight(dy.view(), dtoken.view(), dpositions.view());
    expect_gradient(patches, dpatches, loss, "patches");
    expect_gradient(token, dtoken, loss, "class token");
    expect_gradient(positions, dpositions, loss, "positions");
}

TEST(SplitHeadsGradients, AreFiniteDifferences) {
    const Tensor packed = random({2, 3, 10}, 1), dpacked = zeros({2, 3, 10});
    const Tensor dq = random({2, 3, 6}, 2), dk = random({2, 7, 2}, 3), dv = random({2, 7, 2}, 4);
    const auto loss = [&] {
        const Tensor q = zeros({2, 3, 6}), k = zeros({2, 7, 2}), v = zeros({2, 7, 2});
        oracle.split_heads_forward(3, packed.view(), q.view(), k.view(), v.view());
        return dot_of(q, dq) + dot_of(k, dk) + dot_of(v, dv);
    };
    oracle.split_heads_backward_input(3, dq.view(), dk.view(), dv.view(), dpacked.view());
    expect_gradient(packed, dpacked, loss, "packed");
}

TEST(CrossEntropyGradients, AreFiniteDifferencesOfTheMeanOverCountedTargets) {
    const Tensor logits = random({5, 7}, 1), targets = integers({3, -100, 0, 6, -100});
    const CrossEntropy mean{0, -100, 1.0 / 3};
    const Tensor largest = zeros({5}), sum = zeros({5}), target = zeros({5});
    const auto loss = [&] {
        const Tensor copy = logits.clone(), total = zeros({1});
        oracle.cross_entropy_softmax(mean, targets.view(), copy.view(), largest.view(), sum.view(),
                                     target.view());
        oracle.cross_entropy_loss(mean, targets.view(), sum.view(), target.view(), total.view());
        return total.as<double>()[0] / 3;
    };
    loss();
    const Tensor dlogits = logits.clone();
    oracle.cross_entropy_gradient(mean, targets.view(), {}, largest.view(), sum.view(),
                                  dlogits.view());
    expect_gradient(logits, dlogits, loss, "logits");
}

/// From logits to what experts make of their rows, which is elementwise here: each row is
/// multiplied by slopes of its own.
TEST(ExpertGradients, AreFiniteDifferences) {
    constexpr std::int64_t kTokens = 7, kExperts = 5, kChosen = 2, kHidden = 6;
    const Tensor logits = random({kTokens, kExperts}, 1), x = random({kTokens, kHidden}, 2);
    const Tensor dy = random({kTokens, kHidden}, 3),
                 slopes = random({kTokens * kChosen, kHidden}, 4);
    const Tensor weights = zeros({kTokens, kExperts}), rows = zeros(slopes.shape());
    const auto times_slopes = [&](const Tensor& of_rows) {
        for (std::int64_t i = 0; i < slopes.shape().elements(); ++i)
            of_rows.as<double>()[i] *= slopes.as<double>()[i];
    };
    const auto loss = [&] {
        oracle.route_forward({RouterScore::Softmax, kChosen}, logits.view(), {}, weights.view());
        oracle.permute_forward(weights.view(), x.view(), rows.view());
        times_slopes(rows);
        const Tensor y = zeros({kTokens, kHidden});
        oracle.combine_forward(weights.view(), rows.view(), y.view());
        return dot_of(y, dy);
    };
    loss();
    const Tensor drows = zeros(slopes.shape()), dx = zeros({kTokens, kHidden});
    const Tensor dlogits = zeros({kTokens, kExperts});
    oracle.combine_backward_input(weights.view(), dy.view(), rows.view(), drows.view(),
                                  dlogits.view());
    oracle.route_backward_input({RouterScore::Softmax, kChosen}, dlogits.view(), weights.view(),
                                logits.view(), dlogits.view());
    times_slopes(drows);
    oracle.permute_backward_input(weights.view(), drows.view(), dx.view());
    expect_gradient(logits, dlogits, loss, "logits");
    expect_gradient(x, dx, loss, "x");
}

struct RouterCase {
    std::string name;
    RouterChoice choice;
    friend void PrintTo(const RouterCase& which, std::ostream* out) { *out << which.name; }
};

std::vector<RouterCase> router_cases() {
    return {{"softmax_scaled", {RouterScore::Softmax, 3, 1, 1, true, 2.5}},
            {"pre_softmax", {RouterScore::PreSoftmax, 2, 1, 1, true, 1}},
            {"pre_softmax_in_groups_scaled", {RouterScore::PreSoftmax, 3, 4, 2, true, 16}},
            {"sigmoid_renormalised", {RouterScore::Sigmoid, 3, 1, 1, true, 1}},
            {"sigmoid_in_groups_scaled", {RouterScore::Sigmoid, 3, 4, 2, true, 2.5}},
            {"sigmoid_as_it_is", {RouterScore::Sigmoid, 1, 1, 1, false, 1.5}}};
}

class RouterGradients : public testing::TestWithParam<RouterCase> {};

/// The choice stays the same under small changes of the logits.
TEST_P(RouterGradients, AreFiniteDifferences) {
    const RouterChoice& choice = GetParam().choice;
    const Shape shape{6, 12};
    const Tensor logits = random(shape, 1), correction = random({12}, 2), dy = random(shape, 3);
    const Tensor weights = zeros(shape), dlogits = dy.clone();
    const auto loss = [&] {
        oracle.route_forward(choice, logits.view(), correction.view(), weights.view());
        return dot_of(weights, dy);
    };
    loss();
    oracle.route_backward_input(choice, dlogits.view(), weights.view(), logits.view(),
                                dlogits.view());
    expect_gradient(logits, dlogits, loss, "logits");
}

INSTANTIATE_TEST_SUITE_P(Routers, RouterGradients, testing::ValuesIn(router_cases()),
                         [](const auto& each) { return each.param.name; });

TEST(RouterLossGradients, AreFiniteDifferences) {
    for (const RouterScore score : {RouterScore::PreSoftmax, RouterScore::Sigmoid}) {
        const RouterLosses losses{score, 0.7, 0.2};
        const Tensor logits = random({5, 9}, 1), counts = random({9}, 2);
        const auto loss = [&] {
            const Tensor balance = zeros({1}), z = zeros({1});
            oracle.router_losses_forward(losses, logits.view(), counts.view(), balance.view(),
                                         z.view());
            return balance.as<double>()[0] + z.as<double>()[0];
        };
        const Tensor dlogits = zeros({5, 9});
        oracle.router_losses_backward_input(losses, logits.view(), counts.view(), dlogits.view());
        expect_gradient(logits, dlogits, loss, "logits");
    }
}

struct AttentionCase {
    std::string name;
    std::int64_t queries, keys, heads, kv_heads;
    Attention attention;
    friend void PrintTo(const AttentionCase& which, std::ostream* out) { *out << which.name; }
};

Attention attends(bool causal, std::int64_t first_query = 0) {
    return {causal, first_query, 0.5, {}};
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
            {"dropout", 4, 9, 4, 2, with_dropout(attends(true, 5))}};
}

class AttentionGradients : public testing::TestWithParam<AttentionCase> {};

TEST_P(AttentionGradients, AreFiniteDifferences) {
    const auto& [name, queries, keys, heads, kv_heads, attention] = GetParam();
    const std::int64_t samples = keys > 20 ? 1 : 2;
    const Tensor q = random({samples, queries, heads, 3}, 1);
    const Tensor k = random({samples, keys, kv_heads, 3}, 2);
    const Tensor v = random({samples, keys, kv_heads, 3}, 3), dout = random(q.shape(), 4);
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

INSTANTIATE_TEST_SUITE_P(All, AttentionGradients, testing::ValuesIn(attention_cases()),
                         [](const auto& test) { return test.param.name; });

}  // namespace
}  // namespace debubble::exec
