#include <cmath>

#include "exec/cpu/fixed_order/attention.h"
#include "tests/exec/support/tensors.h"

namespace debubble::exec::fixed_order {
namespace {

/// All inputs and results of an attention.
struct Pass {
    Attention attention;
    Tensor q, k, v, out, log_sum, dq, dk, dv;

    Pass(const Attention& how, Tensor queries, Tensor keys, Tensor values)
        : attention(how),
          q(std::move(queries)),
          k(std::move(keys)),
          v(std::move(values)),
          out(q.shape(), q.type()),
          log_sum({q.shape()[0], q.shape()[2], q.shape()[1]}, q.type()),
          dq(q.shape(), q.type()),
          dk(k.shape(), q.type()),
          dv(k.shape(), q.type()) {}

    void forward() {
        attention_forward(attention, q.as<float>(), k.as<float>(), v.as<float>(), out.as<float>(),
                          log_sum.as<float>());
    }
    void backward(const Tensor& dout) {
        attention_backward_input(attention, dout.as<float>(), q.as<float>(), k.as<float>(),
                                 v.as<float>(), out.as<float>(), log_sum.as<float>(),
                                 dq.as<float>(), dk.as<float>(), dv.as<float>());
    }
};

Tensor rows_of(const Tensor& whole, std::int64_t first, std::int64_t count) {
    const Shape& shape = whole.shape();
    Tensor part({shape[0], count, shape[2], shape[3]});
    const std::int64_t width = shape[2] * shape[3];
    for (std::int64_t sample = 0; sample < shape[0]; ++sample) {
        std::copy_n(whole.as<float>().data + (sample * shape[1] + first) * width, count * width,
                    part.as<float>().data + sample * count * width);
    }
    return part;
}

TEST(AttentionSlices, GiveTheBitsOfTheWholeSequence) {
    constexpr std::int64_t kRows = 150;
    const AttentionDropout dropout{{0.1, {3, 9}}, 4, kRows, 0, 0};
    Pass whole({true, 0, 0.3, dropout}, random_tensor<float>({2, kRows, 4, 8}, 1),
               random_tensor<float>({2, kRows, 2, 8}, 2),
               random_tensor<float>({2, kRows, 2, 8}, 3));
    const Tensor dout = random_tensor<float>(whole.out.shape(), 4);
    whole.forward();
    whole.backward(dout);
    for (const std::int64_t length : {50, 64, 75, 149}) {
        Tensor dk(whole.k.shape()), dv(whole.k.shape());
        const std::int64_t slices = (kRows + length - 1) / length;
        for (std::int64_t slice = slices - 1; slice >= 0; --slice) {  // as Seq1F1B goes back
            const std::int64_t first = slice * length, count = std::min(length, kRows - first);
            Pass part({true, first, 0.3, dropout}, rows_of(whole.q, first, count), whole.k.clone(),
                      whole.v.clone());
            part.forward();
            EXPECT_TRUE(same_bits(part.out, rows_of(whole.out, first, count))) << length;
            part.dk = std::move(dk);
            part.dv = std::move(dv);
            part.backward(rows_of(dout, first, count));
            EXPECT_TRUE(same_bits(part.dq, rows_of(whole.dq, first, count))) << length;
            dk = std::move(part.dk);
            dv = std::move(part.dv);
        }
        EXPECT_LT(relative_difference(dk, whole.dk), 1e-6) << length;
        EXPECT_LT(relative_difference(dv, whole.dv), 1e-6) << length;
    }
}

TEST(GroupedQueryAttention, IsMultiHeadWithRepeatedKeys) {
    constexpr std::int64_t kRows = 70;
    Pass grouped({true, 0, 0.3, {}}, random_tensor<float>({1, kRows, 4, 8}, 1),
                 random_tensor<float>({1, kRows, 2, 8}, 2),
                 random_tensor<float>({1, kRows, 2, 8}, 3));
    const auto repeated = [](const Tensor& x) {
        Tensor wide({1, kRows, 4, 8});
        for (std::int64_t row = 0; row < 4 * kRows; ++row) {
            std::copy_n(x.as<float>().row(row / 2), 8, wide.as<float>().row(row));
        }
        return wide;
    };
    Pass full(grouped.attention, grouped.q.clone(), repeated(grouped.k), repeated(grouped.v));
    const Tensor dout = random_tensor<float>(grouped.out.shape(), 4);
    grouped.forward();
    full.forward();
    EXPECT_TRUE(same_bits(grouped.out, full.out));
    grouped.backward(dout);
    full.backward(dout);
    EXPECT_TRUE(same_bits(grouped.dq, full.dq));
    Tensor dk(grouped.k.shape());
    for (std::int64_t row = 0; row < 4 * kRows; ++row) {
        for (int d = 0; d < 8; ++d)
            dk.as<float>().row(row / 2)[d] += full.dk.as<float>().row(row)[d];
    }
    EXPECT_LT(relative_difference(grouped.dk, dk), 1e-6);
}

TEST(Attention, StandsScoresThatOverflowWithoutAShift) {
    Pass run({true, 0, 1, {}}, Tensor({1, 3, 1, 2}), Tensor({1, 3, 1, 2}), Tensor({1, 3, 1, 2}));
    run.q.as<float>()[4] = 1000;
    run.k.as<float>()[2] = 1;
    run.v.as<float>()[2] = 7;
    run.forward();
    EXPECT_FLOAT_EQ(run.out.as<float>()[4], 7) << "score 1000 takes all the weight";
    EXPECT_FLOAT_EQ(run.log_sum.as<float>()[2], 1000);
}

TEST(Attention, DropsTheProbabilityItIsAskedTo) {
    constexpr std::int64_t kKeys = 4000;
    Pass run({false, 0, 1, AttentionDropout{{0.25, {1, 2}}, 1, kKeys, 0, 0}}, Tensor({1, 4, 1, 2}),
             Tensor({1, kKeys, 1, 2}), Tensor({1, kKeys, 1, 2}));
    std::ranges::fill(run.v.as<float>(), 1.F);
    run.forward();
    for (const float mean : run.out.as<float>()) {
        // The mean of kKeys values that are 4/3 with probability 3/4: deviation 0.0091.
        EXPECT_NEAR(mean, 1, 5 * 0.0091);
        EXPECT_NE(mean, 1);
    }
    EXPECT_NE(run.out.as<float>()[0], run.out.as<float>()[2]) << "each query drops other keys";
}

}  // namespace
}  // namespace debubble::exec::fixed_order
