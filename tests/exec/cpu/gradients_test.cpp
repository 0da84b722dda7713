#include "tests/exec/cpu/gradients.h"
#include "exec/core/stage/rope_table.h"

/// The oracle's backwards are the derivatives of its forwards.
namespace debubble::exec {
namespace {

class LinearGradients : public testing::TestWithParam<WeightLayout> {};

TEST_P(LinearGradients, AreFiniteDifferences) {
    const bool conv = GetParam() == WeightLayout::InputsOutputs;
    const Tensor x = random_fp64({3, 5}, 1);
    const Tensor weight = random_fp64(conv ? Shape{5, 4} : Shape{4, 5}, 2);
    const Tensor bias = random_fp64({4}, 3);
    const Tensor dy = random_fp64({3, 4}, 4);
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

void expect_gradients_of_layer_norm(bool biased) {
    const Tensor x = random_fp64({3, 20}, 1), weight = random_fp64({20}, 2);
    const Tensor bias = random_fp64({20}, 3);
    const Tensor dy = random_fp64({3, 20}, 4), statistics = zeros({3, 2});
    const auto loss = [&] {
        const Tensor y = zeros({3, 20});
        oracle.layer_norm_forward(1e-5, x.view(), weight.view(),
                                  biased ? bias.view() : TensorView{}, y.view(), statistics.view());
        return dot_of(y, dy);
    };
    loss();
    const Tensor dx = zeros({3, 20}), dweight = zeros({20}), dbias = zeros({20});
    oracle.layer_norm_backward_input(dy.view(), x.view(), weight.view(), statistics.view(),
                                     dx.view(), Write::Overwrite);
    oracle.layer_norm_backward_weight(dy.view(), x.view(), statistics.view(), dweight.view(),
                                      biased ? dbias.view() : TensorView{});
    expect_gradient(x, dx, loss, "x");
    expect_gradient(weight, dweight, loss, "weight");
    if (biased) expect_gradient(bias, dbias, loss, "bias");
}

TEST(LayerNormGradients, AreFiniteDifferences) {
    expect_gradients_of_layer_norm(true);
    expect_gradients_of_layer_norm(false);
}

TEST(RmsNormGradients, AreFiniteDifferences) {
    const Tensor x = random_fp64({3, 20}, 1), weight = random_fp64({20}, 2);
    const Tensor dy = random_fp64({3, 20}, 4), statistics = zeros({3});
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
        const Tensor x = random_fp64({4, 9}, 1), dy = random_fp64({4, 9}, 2), dx = zeros({4, 9});
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
        const Tensor gate_up = random_fp64({4, 18}, 1), dy = random_fp64({4, 9}, 3);
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
        const Tensor x = random_fp64({2, 4, 3, 8}, 1), dy = random_fp64({2, 4, 3, 8}, 2),
                     dx = dy.clone();
        const auto loss = [&] {
            const Tensor y = x.clone();
            oracle.rope_forward(how, cosines.view(), sines.view(), y.view());
            return dot_of(y, dy);
        };
        oracle.rope_backward_input(how, cosines.view(), sines.view(), dx.view());
        expect_gradient(x, dx, loss, "x");
    }
}

void expect_gradients_of_head_norm(const HeadRun& run) {
    const Tensor x = random_fp64({3, 19}, 1), dy = random_fp64({3, 19}, 2);
    const Tensor gain = random_fp64({4}, 3);
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

TEST(HeadNormGradients, AreFiniteDifferences) {
    expect_gradients_of_head_norm({2, 1, 2, 4});
    expect_gradients_of_head_norm({6, 1, 2, 4, 3, 4});  // with other columns before and between
}

TEST(WidthNormGradients, AreFiniteDifferences) {
    const HeadRun run{1, 1, 2, 3};
    const Tensor x = random_fp64({3, 9}, 1), dy = random_fp64({3, 9}, 2),
                 gain = random_fp64({6}, 3);
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

TEST(OutputGateGradients, AreFiniteDifferences) {
    const Tensor x = random_fp64({4, 9}, 1), gate = random_fp64({4, 9}, 2);
    const Tensor dy = random_fp64({4, 9}, 3);
    const auto loss = [&] {
        const Tensor y = zeros({4, 9});
        oracle.output_gate_forward(x.view(), gate.view(), y.view());
        return dot_of(y, dy);
    };
    const Tensor dx = zeros({4, 9}), dgate = zeros({4, 9});
    oracle.output_gate_backward_input(dy.view(), x.view(), gate.view(), dx.view(), dgate.view());
    expect_gradient(x, dx, loss, "x");
    expect_gradient(gate, dgate, loss, "gate");
}

TEST(SoftCapGradients, AreFiniteDifferences) {
    const Tensor x = random_fp64({4, 9}, 1), dy = random_fp64({4, 9}, 2), dx = zeros({4, 9});
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
    const Tensor cosines = random_fp64({9, 2}, 8), sines = random_fp64({9, 2}, 9);
    const Tensor queries = random_fp64({2, 3, 2, 7}, 1), pairs = random_fp64({2, 3, 2, 3 + 5}, 2);
    const Tensor shared = random_fp64({2, 3, 6}, 3);
    const Tensor dq = random_fp64({2, 3, 2, 7}, 4), dk = random_fp64({2, 3, 2, 7}, 5);
    const Tensor dv = random_fp64({2, 3, 2, 5}, 6);
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
    const Tensor x = random_fp64({2, 4, 5}, 1), dy = random_fp64({2, 4, 5}, 2),
                 dx = zeros({2, 4, 5});
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
    const Tensor table = random_fp64({4, 5}, 1), positions = random_fp64({6, 5}, 2);
    const Tensor dy = random_fp64({2, 3, 5}, 3);
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
    const Tensor patches = random_fp64({2, 3, 4}, 1), token = random_fp64({4}, 2),
                 positions = random_fp64({4, 4}, 3);
    const Tensor dfirst = random_fp64({2, 4}, 4), weights = random_fp64({2, 4, 4}, 5);
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
    const Tensor packed = random_fp64({2, 3, 10}, 1), dpacked = zeros({2, 3, 10});
    const Tensor dq = random_fp64({2, 3, 6}, 2), dk = random_fp64({2, 7, 2}, 3),
                 dv = random_fp64({2, 7, 2}, 4);
    const auto loss = [&] {
        const Tensor q = zeros({2, 3, 6}), k = zeros({2, 7, 2}), v = zeros({2, 7, 2});
        oracle.split_heads_forward(3, packed.view(), q.view(), k.view(), v.view());
        return dot_of(q, dq) + dot_of(k, dk) + dot_of(v, dv);
    };
    oracle.split_heads_backward_input(3, dq.view(), dk.view(), dv.view(), dpacked.view());
    expect_gradient(packed, dpacked, loss, "packed");
}

TEST(CrossEntropyGradients, AreFiniteDifferencesOfTheMeanOverCountedTargets) {
    const Tensor logits = random_fp64({5, 7}, 1), targets = integers({3, -100, 0, 6, -100});
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

}  // namespace
}  // namespace debubble::exec
