#include <cmath>
#include <limits>
#include <numbers>

#include <gmock/gmock.h>

#include "exec/cpu/cpu_kernels.h"
#include "exec/cpu/fixed_order/gemm.h"
#include "exec/cpu/loops/elements.h"
#include "exec/cpu/loops/experts.h"
#include "exec/cpu/loops/exponential.h"
#include "tests/exec/support/tensors.h"
#include "tests/exec/support/whole_loss.h"

namespace debubble::exec::loops {
namespace {

using fixed_order::linear_backward_weight;
using fixed_order::Matrix;
using fixed_order::multiply;

/// The definition, in double.
double product_at(const Tensor& a, const Tensor& b, std::int64_t i, std::int64_t j) {
    double sum = 0;
    for (std::int64_t p = 0; p < a.shape()[1]; ++p) {
        sum += static_cast<double>(a.as<float>().row(i)[p]) *
               static_cast<double>(b.as<float>().row(p)[j]);
    }
    return sum;
}

TEST(Product, IsItsDefinitionForAllSizesAroundTheBlocks) {
    for (const auto& [m, n, k] : std::vector<std::array<std::int64_t, 3>>{{1, 1, 1},
                                                                          {5, 7, 3},
                                                                          {6, 16, 8},
                                                                          {7, 33, 17},
                                                                          {97, 31, 257},
                                                                          {13, 1030, 9},
                                                                          {192, 64, 256},
                                                                          {3, 5, 600}}) {
        const Tensor a = random_tensor<float>({m, k}, 1), b = random_tensor<float>({k, n}, 2);
        const Tensor at({k, m}), bt({n, k}), c({m, n}), ct({m, n});
        for (std::int64_t p = 0; p < k; ++p) {
            for (std::int64_t i = 0; i < m; ++i) at.as<float>().row(p)[i] = a.as<float>().row(i)[p];
            for (std::int64_t j = 0; j < n; ++j) bt.as<float>().row(j)[p] = b.as<float>().row(p)[j];
        }
        std::ranges::fill(c.as<float>(), std::numeric_limits<float>::quiet_NaN());
        multiply({m, n, k}, {a.as<float>().data, k, 1}, {b.as<float>().data, n, 1},
                 Matrix<float>{c.as<float>().data, n, 1}, Write::Overwrite);
        multiply({m, n, k}, {at.as<float>().data, 1, m}, {bt.as<float>().data, 1, k},
                 Matrix<float>{ct.as<float>().data, n, 1}, Write::Add);
        EXPECT_TRUE(same_bits(c, ct)) << "strides change no bit: " << m << " " << n << " " << k;
        for (std::int64_t i = 0; i < m; ++i) {
            for (std::int64_t j = 0; j < n; ++j) {
                const double bound = 1e-7 * static_cast<double>(k + 4);
                ASSERT_NEAR(c.as<float>().row(i)[j], product_at(a, b, i, j), bound);
            }
        }
    }
}

TEST(Product, WritesOnlyItsPartOfALargerMatrix) {
    const Tensor a = random_tensor<float>({2, 3}, 1), b = random_tensor<float>({3, 4}, 2);
    const Tensor large({2, 9});
    std::ranges::fill(large.as<float>(), 5.F);
    multiply({2, 4, 3}, {a.as<float>().data, 3, 1}, {b.as<float>().data, 4, 1},
             Matrix<float>{large.as<float>().data + 3, 9, 1}, Write::Overwrite);
    for (std::int64_t i = 0; i < 2; ++i) {
        for (std::int64_t j = 0; j < 9; ++j) {
            const bool inside = j >= 3 && j < 7;
            const double expected = inside ? product_at(a, b, i, j - 3) : 5.0;
            EXPECT_NEAR(large.as<float>().row(i)[j], expected, inside ? 1e-6 : 0);
        }
    }
}

TEST(WeightGradients, OfMicrobatchesInTurnAreTheBitsOfOneBatch) {
    constexpr std::int64_t kTokens = 700, kInputs = 33, kOutputs = 50;
    const Tensor x = random_tensor<float>({kTokens, kInputs}, 1);
    const Tensor dy = random_tensor<float>({kTokens, kOutputs}, 2);
    for (const auto layout : {WeightLayout::OutputsInputs, WeightLayout::InputsOutputs}) {
        const bool conv = layout == WeightLayout::InputsOutputs;
        const Shape shape = conv ? Shape{kInputs, kOutputs} : Shape{kOutputs, kInputs};
        const Tensor once(shape), bias({kOutputs});
        linear_backward_weight(layout, x.as<float>(), dy.as<float>(), once.as<float>(),
                               bias.as<float>());
        const Tensor parts(shape), bias_parts({kOutputs});
        for (std::int64_t first = 0; first < kTokens; first += 200) {
            const std::int64_t count = std::min<std::int64_t>(200, kTokens - first);
            linear_backward_weight(layout, View<float>{x.as<float>().row(first), {count, kInputs}},
                                   View<float>{dy.as<float>().row(first), {count, kOutputs}},
                                   parts.as<float>(), bias_parts.as<float>());
        }
        EXPECT_TRUE(same_bits(once, parts));
        EXPECT_TRUE(same_bits(bias, bias_parts));
    }
}

TEST(CrossEntropy, OfVocabularySharesIsThatOfTheWhole) {
    constexpr std::int64_t kTokens = 9, kVocab = 40;
    const Tensor logits = random_tensor<float>({kTokens, kVocab}, 1);
    const Tensor targets = integers({0, 13, 39, -100, 12, 25, 26, 31, 7});
    const Tensor whole = logits.clone();
    const auto ids = targets.as<std::int32_t>();
    const double loss = whole_loss({.gradient_scale = 0.125}, ids, whole.as<float>());

    const std::vector<std::int64_t> cuts = {0, 13, 26, kVocab};
    std::vector<Tensor> shares;
    Tensor largest({kTokens}), sum({kTokens}), target({kTokens});
    std::ranges::fill(largest.as<float>(), -1e30F);
    EXPECT_GT(loss, 0);
    std::vector<Tensor> own, sums, mine;  // those of each rank
    const auto share_of = [&](int rank) {
        return CrossEntropy{.first_entry = cuts[rank],
                            .gradient_scale = 0.125,
                            .entries = cuts[rank + 1] - cuts[rank]};
    };
    for (int rank = 0; rank < 3; ++rank) {
        const std::int64_t width = cuts[rank + 1] - cuts[rank];
        shares.emplace_back(Shape{kTokens, width});
        for (std::int64_t i = 0; i < kTokens; ++i) {
            std::copy_n(logits.as<float>().row(i) + cuts[rank], width,
                        shares[rank].as<float>().row(i));
        }
        for (std::vector<Tensor>* each : {&own, &sums, &mine}) each->emplace_back(Shape{kTokens});
        cross_entropy_largest({}, shares[rank].as<float>(), own[rank].as<float>());
        cross_entropy_exponentials(share_of(rank), ids, own[rank].as<float>(),
                                   shares[rank].as<float>(), sums[rank].as<float>(),
                                   mine[rank].as<float>());
        for (std::int64_t i = 0; i < kTokens; ++i) {  // an all-reduce by maximum
            largest.as<float>()[i] = std::max(largest.as<float>()[i], own[rank].as<float>()[i]);
        }
    }
    for (int rank = 0; rank < 3; ++rank) {
        cross_entropy_rescale(share_of(rank), ids, own[rank].as<float>(), largest.as<float>(),
                              sums[rank].as<float>(), mine[rank].as<float>());
        add(sums[rank].as<float>(), sum.as<float>());
        add(mine[rank].as<float>(), target.as<float>());
    }
    EXPECT_NEAR(cross_entropy_loss({}, ids, sum.as<float>(), target.as<float>()), loss,
                1e-6 * loss);
    for (int rank = 0; rank < 3; ++rank) {
        cross_entropy_gradient(share_of(rank), ids, own[rank].as<float>(), largest.as<float>(),
                               sum.as<float>(), shares[rank].as<float>());
        for (std::int64_t i = 0; i < kTokens; ++i) {
            for (std::int64_t j = cuts[rank]; j < cuts[rank + 1]; ++j) {
                EXPECT_NEAR(shares[rank].as<float>().row(i)[j - cuts[rank]],
                            whole.as<float>().row(i)[j], 1e-8);
            }
        }
    }
}

TEST(CrossEntropy, OfAPaddedVocabularyIsThatOfItsEntries) {
    constexpr std::int64_t kTokens = 5, kVocab = 21, kPadded = 24;
    const Tensor logits = random_tensor<float>({kTokens, kVocab}, 1);
    const Tensor targets = integers({3, 20, -100, 0, 7});
    const Tensor padded({kTokens, kPadded});
    for (std::int64_t i = 0; i < kTokens; ++i) {
        std::fill_n(padded.as<float>().row(i), kPadded, 1e6F);
        std::copy_n(logits.as<float>().row(i), kVocab, padded.as<float>().row(i));
    }
    const auto ids = targets.as<std::int32_t>();
    const CrossEntropy entries{.entries = kVocab};
    EXPECT_EQ(correct_predictions(entries, ids, padded.as<float>()),
              correct_predictions({}, ids, logits.as<float>()));
    const double loss = whole_loss({}, ids, logits.as<float>());
    EXPECT_EQ(whole_loss(entries, ids, padded.as<float>()), loss);
    for (std::int64_t i = 0; i < kTokens; ++i) {
        const float* row = padded.as<float>().row(i);
        EXPECT_TRUE(std::equal(row, row + kVocab, logits.as<float>().row(i)));
        EXPECT_TRUE(std::all_of(row + kVocab, row + kPadded, [](float x) { return x == 0; }));
    }
}

TEST(CrossEntropy, CountsCorrectPredictions) {
    const Tensor logits({3, 3});
    for (const std::int64_t at : {1, 3, 8}) logits.as<float>()[at] = 1;
    const Tensor targets = integers({1, 2, 2});
    EXPECT_EQ(correct_predictions({}, targets.as<std::int32_t>(), logits.as<float>()), 2);
}

TEST(Columns, OfAnAllGatherAreJoinedAndTakenAgain) {
    const Tensor whole = random_tensor<float>({5, 12}, 1), gathered({3, 5, 4}), joined({5, 12});
    for (int part = 0; part < 3; ++part) {
        const View<float> mine{gathered.as<float>().data + part * 20, {5, 4}};
        take_columns(part, 3, whole.as<float>(), mine);
        EXPECT_EQ(mine.row(2)[1], whole.as<float>().row(2)[4 * part + 1]);
    }
    join_columns(3, gathered.as<float>(), joined.as<float>());
    EXPECT_TRUE(same_bits(whole, joined));
}

TEST(TokenEmbedding, OfVocabularySharesAddsUpToTheWhole) {
    const Tensor tokens = integers({3, 0, 9, 5, 3}), table = random_tensor<float>({10, 4}, 1);
    const Tensor whole({5, 4}), total({5, 4}), part({5, 4});
    const auto kernels = make_fixed_order_kernels();
    kernels->token_embedding_forward(tokens.view(), 0, table.view(), whole.view());
    for (const std::int64_t first : {0, 5}) {
        const auto* row = reinterpret_cast<const std::byte*>(table.as<float>().row(first));
        kernels->token_embedding_forward(tokens.view(), first, {row, {5, 4}, DataType::Fp32},
                                         part.view());
        add(part.as<float>(), total.as<float>());
    }
    EXPECT_TRUE(same_bits(whole, total));
}

TEST(Exponential, IsGoodToTheLastPlaces) {
    double worst = 0;
    for (float x = -86.9F; x < 88.7F; x += 0.0137F) {
        const double exact = std::exp(static_cast<double>(x));
        worst = std::max(worst, std::abs(static_cast<double>(exponential(x)) / exact - 1));
    }
    EXPECT_LT(worst, 1.5 * std::numeric_limits<float>::epsilon());
    EXPECT_EQ(exponential(0.F), 1.F);
    EXPECT_EQ(exponential(-88.F), 0.F);
    EXPECT_EQ(exponential(-std::numeric_limits<float>::infinity()), 0.F);
    EXPECT_EQ(exponential(std::numeric_limits<float>::infinity()),
              std::numeric_limits<float>::infinity());
    EXPECT_EQ(exponential(89.F), std::numeric_limits<float>::infinity());
    EXPECT_TRUE(std::isnan(exponential(std::numeric_limits<float>::quiet_NaN())));
}

TEST(Normal, IsHalfOfErfcToTheLastPlaces) {
    double worst = 0, worst_of_tail = 0;
    for (float x = -13; x < 13; x += 0.00137F) {
        const double exact = 0.5 * std::erfc(static_cast<double>(-x) / std::numbers::sqrt2);
        const double error =
            std::abs(static_cast<double>(normal_below(x, unscaled_normal_density(x))) - exact);
        worst = std::max(worst, error);
        if (x < 0 && unscaled_normal_density(x) > 0)
            worst_of_tail = std::max(worst_of_tail, error / exact);
    }
    // The error is at most a half unit plus the exponential's 1.5 units, the polynomial's
    // evaluation and its fit.
    EXPECT_LT(worst, 1.5 * std::numeric_limits<float>::epsilon());
    EXPECT_LT(worst_of_tail, 1e-5) << "x^2 / 2 is rounded before it is an exponent";
    constexpr float kInfinity = std::numeric_limits<float>::infinity();
    EXPECT_EQ(normal_below(-kInfinity, unscaled_normal_density(-kInfinity)), 0.F);
    EXPECT_EQ(normal_below(kInfinity, unscaled_normal_density(kInfinity)), 1.F);
}

TEST(Experts, AreThoseOfTheLargestLogitsByTheSoftmaxOverThem) {
    const Tensor logits({2, 4}), weights({2, 4});
    const std::vector<float> those = {0, 3, 1, 3, -1e30F, -200, -90, -1e30F};
    std::ranges::copy(those, logits.as<float>().begin());
    route_forward({RouterScore::Softmax, 2}, logits.as<float>(), {}, weights.as<float>());
    const auto w = weights.as<float>();
    EXPECT_THAT(std::vector(w.begin(), w.begin() + 4), testing::ElementsAre(0, 0.5F, 0, 0.5F));
    EXPECT_GT(w[5], 0) << "chosen, however little it weighs";
    EXPECT_EQ(w[6], 1);

    const ExpertRows rows{View<const float>(w)};
    EXPECT_THAT(rows.first(), testing::ElementsAre(0, 0, 2, 3, 4));
    EXPECT_THAT(rows.rows_of(0), testing::ElementsAre(0, 3));  // of experts 1 and 3
    EXPECT_THAT(rows.rows_of(1), testing::ElementsAre(1, 2));  // of experts 1 and 2
    EXPECT_THAT(rows.experts_of(1), testing::ElementsAre(1, 2));
}

/// Two groups of two: the first has the best expert, the second the better two.
TEST(Experts, AreInTheGroupsWhoseBestTwoScoresAreLargest) {
    const Tensor logits({1, 4}), correction({4}), weights({1, 4});
    std::ranges::copy(std::vector<float>{2, -9, 1, 1}, logits.as<float>().begin());
    const RouterChoice sigmoid{RouterScore::Sigmoid, 1, 2, 1, true, 2.5};
    const auto w = weights.as<float>();
    route_forward(sigmoid, logits.as<float>(), {}, w);
    EXPECT_THAT(std::vector(w.begin(), w.end()), testing::ElementsAre(0, 0, 2.5F, 0));
    // What is added to scores decides the choice, and no weight.
    correction.as<float>()[3] = 0.01F;
    route_forward(sigmoid, logits.as<float>(), correction.as<float>(), w);
    EXPECT_THAT(std::vector(w.begin(), w.end()), testing::ElementsAre(0, 0, 0, 2.5F));
    // By the softmax of all logits, the group of the best expert.
    const RouterChoice softmax{RouterScore::PreSoftmax, 1, 2, 1, true, 1};
    route_forward(softmax, logits.as<float>(), {}, w);
    const float sum = 1 + std::exp(-11.F) + 2 * std::exp(-1.F);
    EXPECT_NEAR(w[0], 1 / sum, 1e-6);
    EXPECT_EQ(w[2], 0);
}

TEST(Experts, TakeTheFirstOfEqualLogitsAndPassOnNaN) {
    const Tensor logits({2, 3}), weights({2, 3});
    logits.as<float>()[4] = std::numeric_limits<float>::quiet_NaN();
    route_forward({RouterScore::Softmax, 2}, logits.as<float>(), {}, weights.as<float>());
    const auto w = weights.as<float>();
    EXPECT_THAT(std::vector(w.begin(), w.begin() + 3), testing::ElementsAre(0.5F, 0.5F, 0));
    EXPECT_EQ(ExpertRows{View<const float>(w)}.first().back(), 4) << "two rows for each token";
    EXPECT_TRUE(std::isnan(w[3]) || std::isnan(w[4]) || std::isnan(w[5]));
}

}  // namespace
}  // namespace debubble::exec::loops
