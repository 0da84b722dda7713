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
    for (const auto kind : {Nonlinearity::Gelu, Nonlinearity::GeluTanh, Nonlinearity::Relu,
                            Nonlinearity::SquaredRelu}) {
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

TEST(GatedGradients, AreFiniteDifferences) {
    for (const Gate kind : {Gate::Silu, Gate::Gelu, Gate::GeluTanh, Gate::ClampedSilu}) {
        const Tensor gate_up = random({4, 18}, 1), dy = random({4, 9}, 3);
        const Tensor dgate_up = zeros({4, 18});
        const auto loss = [&] {
            const Tensor y = zeros({4, 9});
            oracle.gated_forward(kind, gate_up.view(), y.view());
            return dot_of(y, dy);
        };
        oracle.gated_backward_input(kind, dy.view(), gate_up.view(), dgate_up.view());
        expect_gradient(gate_up, dgate_up, loss, "gate and up");
    }
}

TEST(RopeGradients, AreFiniteDifferences) {
    const Tensor cosines = zeros({9, 3}), sines = zeros({9, 3});
    rope_table({10000, 6}, cosines.as<double>(), sines.as<double>());
    for (const auto pairs : {RotaryPairs::Halves, RotaryPairs::Neighbours}) {
        const Rotary how{5, 2, 2, pairs};  // two heads of three, their last six columns of eight
        const Tensor x = random({2, 4, 3, 8}, 1), dy = random({2, 4, 3, 8}, 2), dx = dy.clone();
        const auto loss = [&] {
            const Tensor y = x.clone();
            oracle.rope_forward(how, cosines.view(), sines.view(), y.view());
            return dot_of(y, dy);
        };
        oracle.rope_backward_input(how, cosines.view(), sines.view(), dx.view());
        expect_gradient(x, dx, loss, "x");
    }
}

TEST(HeadNormGradients, AreFiniteDifferences) {
    const HeadRun run{2, 1, 2, 4};
    const Tensor x = random({3, 13}, 1), dy = random({3, 13}, 2), gain = random({4}, 3);
    for (const TensorView weight : {gain.view(), TensorView{}}) {
        const Tensor kept = zeros({3, 11}), statistics = zeros({3, 4});
        const auto loss = [&] {
            const Tensor y = x.clone();
            oracle.head_norm_forward(1e-5, run, weight, y.view(), kept.view(), statistics.view());
            return dot_of(y, dy);
        };
        loss();
        const Tensor dx = dy.clone(), dgain = zeros({4});
        oracle.head_norm_backward(run, weight, kept.view(), statistics.view(), dx.view(),
                                  weight ? dgain.view() : TensorView{});
        expect_gradient(x, dx, loss, "x");
        if (weight) expect_gradient(gain, dgain, loss, "gain");
    }
}

TEST(WidthNormGradients, AreFiniteDifferences) {
    const HeadRun run{1, 1, 2, 3};
    const Tensor x = random({3, 9}, 1), dy = random({3, 9}, 2), gain = random({6}, 3);
    const Tensor kept = zeros({3, 8}), statistics = zeros({3, 2}), sums = zeros({3, 2});
    const auto loss = [&] {
        const Tensor y = x.clone();
        oracle.width_norm_sums(run, y.view(), sums.view());
        oracle.width_norm_forward(1e-5, 6, run, gain.view(), sums.view(), y.view(), kept.view(),
                                  statistics.view());
        return dot_of(y, dy);
    };
    loss();
    const Tensor dx = dy.clone(), dgain = zeros({6});
    oracle.width_norm_gradient_sums(run, gain.view(), kept.view(), dx.view(), sums.view());
    oracle.width_norm_backward(6, run, gain.view(), kept.view(), statistics.view(), sums.view(),
                               dx.view(), dgain.view());
    expect_gradient(x, dx, loss, "x");
    expect_gradient(gain, dgain, loss, "gain");
}

TEST(SoftCapGradients, AreFiniteDifferences) {
    const Tensor x = random({4, 9}, 1), dy = random({4, 9}, 2), dx = zeros({4, 9});
    const Tensor y = zeros({4, 9});
    const auto loss = [&] {
        oracle.soft_cap_forward(0.8, x.view(), y.view());
        return dot_of(y, dy);
    };
    loss();
    oracle.soft_cap_backward_input(0.8, dy.view(), x.view(), dx.view());
    expect_gradient(x, dx, loss, "x");
}

TEST(LatentHeadGradients, AreFiniteDifferences) {
    const Tensor cosines = random({9, 2}, 8), sines = random({9, 2}, 9);
    const Tensor queries = random({2, 3, 2, 7}, 1), pairs = random({2, 3, 2, 3 + 5}, 2);
    const Tensor shared = random({2, 3, 6}, 3);
    const Tensor dq = random({2, 3, 2, 7}, 4), dk = random({2, 3, 2, 7}, 5);
    const Tensor dv = random({2, 3, 2, 5}, 6);
    const auto loss = [&] {
        const Tensor q = zeros({2, 3, 2, 7}), k = zeros({2, 3, 2, 7}), v = zeros({2, 3, 2, 5});
        oracle.latent_heads_forward(4, cosines.view(), sines.view(), queries.view(), pairs.view(),
                                    shared.view(), q.view(), k.view(), v.view());
        return dot_of(q, dq) + dot_of(k, dk) + dot_of(v, dv);
    };
    const Tensor dqueries = zeros(queries.shape()), dpairs = zeros(pairs.shape());
    const Tensor dshared = zeros(shared.shape());
    oracle.latent_heads_backward_input(4, cosines.view(), sines.view(), dq.view(), dk.view(),
                                       dv.view(), dqueries.view(), dpairs.view(), dshared.view());
    expect_gradient(queries, dqueries, loss, "queries");
    expect_gradient(pairs, dpairs, loss, "keys and values");
    expect_gradient(shared, dshared, loss, "rotated keys");
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

TEST(SharedGateGradients, AreFiniteDifferences) {
    const Tensor x = random({4, 7}, 1), weight = random({7}, 2), branch = random({4, 7}, 3);
    const Tensor dy = random({4, 7}, 4), scores = zeros({4});
    const auto loss = [&] {
        const Tensor y = zeros({4, 7});
        oracle.shared_gate_forward(x.view(), weight.view(), branch.view(), y.view(), scores.view());
        return dot_of(y, dy);
    };
    loss();
    const Tensor dx = zeros({4, 7}), dbranch = zeros({4, 7}), dweight = zeros({7});
    oracle.shared_gate_backward(dy.view(), x.view(), weight.view(), branch.view(), scores.view(),
                                dbranch.view(), dx.view(), dweight.view());
    expect_gradient(x, dx, loss, "x");
    expect_gradient(branch, dbranch, loss, "branch");
    expect_gradient(weight, dweight, loss, "weight");
}

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
            {"capped_window_with_dropout", 4, 9, 4, 2,
             capped(through_window(3, with_dropout(attends(true, 5))))}};
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

/// Values are wider than keys here, and every head has a sink.
TEST_P(AttentionGradients, AreFiniteDifferencesWithSinks) {
    const auto& [name, queries, keys, heads, kv_heads, attention] = GetParam();
    const std::int64_t samples = keys > 20 ? 1 : 2;
    const Tensor q = random({samples, queries, heads, 3}, 1);
    const Tensor k = random({samples, keys, kv_heads, 3}, 2);
    const Tensor v = random({samples, keys, kv_heads, 4}, 3), sinks = random({heads}, 5);
    const Tensor dout = random({samples, queries, heads, 4}, 4), out = zeros(dout.shape());
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

}  // namespace
}  // namespace debubble::exec
