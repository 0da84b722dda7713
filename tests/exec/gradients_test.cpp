#include "exec/core/stage/rope_table.h"
#include "exec/cpu/reference/activation.h"
#include "exec/cpu/reference/cross_entropy.h"
#include "exec/cpu/reference/dropout.h"
#include "exec/cpu/reference/embedding.h"
#include "exec/cpu/reference/experts.h"
#include "exec/cpu/reference/heads.h"
#include "exec/cpu/reference/layer_norm.h"
#include "exec/cpu/reference/linear.h"
#include "exec/cpu/reference/patches.h"
#include "exec/cpu/reference/rms_norm.h"
#include "exec/cpu/reference/rope.h"
#include "tests/exec/tensors.h"

namespace debubble::exec::reference {
namespace {

/// The loss of every test is the dot product of the operator's output with `dy`, so dy is
/// the output's gradient.
Tensor random(const Shape& shape, unsigned seed) {
    return random_tensor<double>(shape, seed);
}
Tensor zeros(const Shape& shape) {
    return Tensor(shape, DataType::Fp64);
}
View<double> of(const Tensor& tensor) {
    return tensor ? tensor.as<double>() : View<double>{};
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
        linear_forward(GetParam(), of(x), of(weight), of(bias), of(y));
        return dot(of(y), of(dy));
    };
    const Tensor dx = zeros({3, 5});
    const Tensor dweight = zeros(weight.shape());
    const Tensor dbias = zeros({4});
    linear_backward_input(GetParam(), of(dy), of(weight), of(dx), Write::Overwrite);
    linear_backward_weight(GetParam(), of(x), of(dy), of(dweight), of(dbias));
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
        layer_norm_forward(1e-5, of(x), of(weight), of(bias), of(y), of(statistics));
        return dot(of(y), of(dy));
    };
    loss();
    const Tensor dx = zeros({3, 20}), dweight = zeros({20}), dbias = zeros({20});
    layer_norm_backward_input(of(dy), of(x), of(weight), of(statistics), of(dx), Write::Overwrite);
    layer_norm_backward_weight(of(dy), of(x), of(statistics), of(dweight), of(dbias));
    expect_gradient(x, dx, loss, "x");
    expect_gradient(weight, dweight, loss, "weight");
    expect_gradient(bias, dbias, loss, "bias");
}

TEST(RmsNormGradients, AreFiniteDifferences) {
    const Tensor x = random({3, 20}, 1), weight = random({20}, 2);
    const Tensor dy = random({3, 20}, 4), statistics = zeros({3});
    const auto loss = [&] {
        const Tensor y = zeros({3, 20});
        rms_norm_forward(1e-6, of(x), of(weight), of(y), of(statistics));
        return dot(of(y), of(dy));
    };
    loss();
    const Tensor dx = zeros({3, 20}), dweight = zeros({20});
    rms_norm_backward_input(of(dy), of(x), of(weight), of(statistics), of(dx), Write::Overwrite);
    rms_norm_backward_weight(of(dy), of(x), of(statistics), of(dweight));
    expect_gradient(x, dx, loss, "x");
    expect_gradient(weight, dweight, loss, "weight");
}

TEST(ActivationGradients, AreFiniteDifferences) {
    for (const auto kind : {Nonlinearity::Gelu, Nonlinearity::GeluTanh, Nonlinearity::Relu}) {
        const Tensor x = random({4, 9}, 1), dy = random({4, 9}, 2), dx = zeros({4, 9});
        const auto loss = [&] {
            const Tensor y = zeros({4, 9});
            activation_forward(kind, of(x), of(y));
            return dot(of(y), of(dy));
        };
        activation_backward_input(kind, of(dy), of(x), of(dx));
        expect_gradient(x, dx, loss, "nonlinearity " + std::to_string(static_cast<int>(kind)));
    }
}

TEST(SwigluGradients, AreFiniteDifferences) {
    const Tensor gate = random({4, 9}, 1), up = random({4, 9}, 2), dy = random({4, 9}, 3);
    const Tensor dgate = zeros({4, 9}), dup = zeros({4, 9});
    const auto loss = [&] {
        const Tensor y = zeros({4, 9});
        swiglu_forward(of(gate), of(up), of(y));
        return dot(of(y), of(dy));
    };
    swiglu_backward_input(of(dy), of(gate), of(up), of(dgate), of(dup));
    expect_gradient(gate, dgate, loss, "gate");
    expect_gradient(up, dup, loss, "up");
}

TEST(RopeGradients, AreFiniteDifferences) {
    const Tensor cosines = zeros({9, 3}), sines = zeros({9, 3});
    rope_table(10000, of(cosines), of(sines));
    const Tensor x = random({2, 4, 2, 6}, 1), dy = random({2, 4, 2, 6}, 2), dx = dy.clone();
    const auto loss = [&] {
        const Tensor y = x.clone();
        rope_forward(5, of(cosines), of(sines), of(y));
        return dot(of(y), of(dy));
    };
    rope_backward_input(5, of(cosines), of(sines), of(dx));
    expect_gradient(x, dx, loss, "x");
}

TEST(DropoutGradients, AreFiniteDifferences) {
    const Dropout dropout{0.4, {7, 3}};
    const Window window{9, 8, 2, 1, 3};
    const Tensor x = random({2, 4, 5}, 1), dy = random({2, 4, 5}, 2), dx = zeros({2, 4, 5});
    const auto loss = [&] {
        const Tensor y = zeros({2, 4, 5});
        dropout_forward(dropout, window, of(x), of(y));
        return dot(of(y), of(dy));
    };
    dropout_backward_input(dropout, window, of(dy), of(dx));
    expect_gradient(x, dx, loss, "x");
}

TEST(EmbeddingGradients, AreFiniteDifferences) {
    const Tensor tokens = integers({3, 1, 8, 3, 5, 3});  // 8 and 1 are of other shares
    const Tensor table = random({4, 5}, 1), positions = random({6, 5}, 2);
    const Tensor dy = random({2, 3, 5}, 3);
    const auto loss = [&] {
        const Tensor y = zeros({2, 3, 5});
        token_embedding_forward(tokens.as<std::int32_t>(), 2, of(table), of(y));
        position_embedding_forward(2, of(y), of(positions), of(y));
        return dot(of(y), of(dy));
    };
    const Tensor dtable = zeros({4, 5}), dpositions = zeros({6, 5});
    token_embedding_backward_weight(tokens.as<std::int32_t>(), 2, of(dy), of(dtable));
    position_embedding_backward_weight(2, of(dy), of(dpositions));
    expect_gradient(table, dtable, loss, "table");
    expect_gradient(positions, dpositions, loss, "positions");
}

TEST(ClassTokenGradients, AreFiniteDifferences) {
    const Tensor patches = random({2, 3, 4}, 1), token = random({4}, 2),
                 positions = random({4, 4}, 3);
    const Tensor dfirst = random({2, 4}, 4), weights = random({2, 4, 4}, 5);
    const auto loss = [&] {
        const Tensor y = zeros({2, 4, 4}), first = zeros({2, 4});
        class_token_forward(of(patches), of(token), of(positions), of(y));
        first_row_forward(of(y), of(first));
        return dot(of(y), of(weights)) + dot(of(first), of(dfirst));
    };
    const Tensor dy = zeros({2, 4, 4}), dpatches = zeros({2, 3, 4});
    const Tensor dtoken = zeros({4}), dpositions = zeros({4, 4});
    first_row_backward_input(of(dfirst), of(dy));
    for (std::int64_t i = 0; i < 32; ++i) of(dy)[i] += of(weights)[i];
    class_token_backward_input(of(dy), of(dpatches));
    class_token_backward_weight(of(dy), of(dtoken), of(dpositions));
    expect_gradient(patches, dpatches, loss, "patches");
    expect_gradient(token, dtoken, loss, "class token");
    expect_gradient(positions, dpositions, loss, "positions");
}

TEST(SplitHeadsGradients, AreFiniteDifferences) {
    const Tensor packed = random({2, 3, 10}, 1), dpacked = zeros({2, 3, 10});
    const Tensor dq = random({2, 3, 6}, 2), dk = random({2, 7, 2}, 3), dv = random({2, 7, 2}, 4);
    const auto loss = [&] {
        const Tensor q = zeros({2, 3, 6}), k = zeros({2, 7, 2}), v = zeros({2, 7, 2});
        split_heads_forward(3, of(packed), of(q), of(k), of(v));
        return dot(of(q), of(dq)) + dot(of(k), of(dk)) + dot(of(v), of(dv));
    };
    split_heads_backward_input(3, of(dq), of(dk), of(dv), of(dpacked));
    expect_gradient(packed, dpacked, loss, "packed");
}

TEST(CrossEntropyGradients, AreFiniteDifferencesOfTheMeanOverCountedTargets) {
    const Tensor logits = random({5, 7}, 1), scratch = zeros({3, 5});
    const Tensor targets = integers({3, -100, 0, 6, -100});
    const CrossEntropy mean{0, -100, 1.0 / 3};
    EXPECT_EQ(counted_targets(targets.as<std::int32_t>(), -100), 3);
    const auto loss = [&] {
        const Tensor copy = logits.clone();
        return cross_entropy(mean, targets.as<std::int32_t>(), of(copy), of(scratch)) / 3;
    };
    const Tensor dlogits = logits.clone();
    cross_entropy(mean, targets.as<std::int32_t>(), of(dlogits), of(scratch));
    expect_gradient(logits, dlogits, loss, "logits");
}

/// From logits to what experts that do nothing would make of a token: as it was, but for their
/// weights, which add up to one -- so each row is weighed by what it is.
TEST(ExpertGradients, AreFiniteDifferences) {
    constexpr std::int64_t kTokens = 7, kExperts = 5, kChosen = 2, kHidden = 6;
    const Tensor logits = random({kTokens, kExperts}, 1), x = random({kTokens, kHidden}, 2);
    const Tensor dy = random({kTokens, kHidden}, 3);
    const Tensor slopes = random({kTokens * kChosen, kHidden}, 4);  // of what each row goes through
    const Tensor weights = zeros({kTokens, kExperts}), rows = zeros(slopes.shape());
    const auto permuted = [&](const ExpertRows& places) {
        for (std::int64_t token = 0; token < kTokens; ++token)
            for (const std::int64_t row : places.rows_of(token))
                for (std::int64_t i = 0; i < kHidden; ++i)
                    of(rows).row(row)[i] = of(x).row(token)[i] * of(slopes).row(row)[i];
    };
    const auto loss = [&] {
        route_forward(kChosen, of(logits), of(weights));
        const ExpertRows places(View<const double>(of(weights)));
        permuted(places);
        const Tensor y = zeros({kTokens, kHidden});
        combine_forward(places, {0, kTokens}, of(weights), of(rows), of(y));
        return dot(of(y), of(dy));
    };
    loss();
    const ExpertRows places(View<const double>(of(weights)));
    const Tensor drows = zeros(slopes.shape()), dx = zeros({kTokens, kHidden});
    const Tensor dlogits = zeros({kTokens, kExperts});
    combine_backward(places, {0, kTokens}, of(weights), of(dy), of(rows), of(drows), of(dlogits));
    route_backward(of(dlogits), of(weights), of(dlogits));
    for (std::int64_t i = 0; i < drows.shape().elements(); ++i) of(drows)[i] *= of(slopes)[i];
    permute_backward(places, {0, kTokens}, of(drows), of(dx));
    expect_gradient(logits, dlogits, loss, "logits");
    expect_gradient(x, dx, loss, "x");
}

}  // namespace
}  // namespace debubble::exec::reference
