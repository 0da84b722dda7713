#include "exec/core/random_stream.h"
#include "exec/core/training/state/initial_values.h"
#include "exec/cpu/cpu_kernels.h"
#include "tests/exec/support/tensors.h"

namespace debubble::exec {
namespace {

// The known answers of Random123's kat_vectors, philox 4x32 10.
static_assert(philox({0, 0, 0, 0}, {0, 0}) ==
              PhiloxCounter{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8});
static_assert(philox({~0U, ~0U, ~0U, ~0U}, {~0U, ~0U}) ==
              PhiloxCounter{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd});
static_assert(philox({0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}, {0xa4093822, 0x299f31d0}) ==
              PhiloxCounter{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1});
// FNV-1a of 64 bits, from the table of its reference page.
static_assert(stream_of(1, "").id == 0xcbf29ce484222325);
static_assert(stream_of(1, "foobar").id == 0x85944171f73967e8);

Tensor dropped(const Dropout& dropout, const Window& window, const Shape& shape) {
    Tensor ones(shape);
    std::ranges::fill(ones.as<float>(), 1.F);
    make_fixed_order_kernels()->dropout(dropout, window, ones.view(), ones.view());
    return ones;
}

TEST(Dropout, IsTheSameMaskInEverySliceAndOnEveryRank) {
    const Dropout dropout{0.3, {5, 6}};
    const Tensor whole = dropped(dropout, {8, 10, 0, 0, 0}, {4, 8, 10});
    const Window window{8, 10, 1, 3, 4};
    const Tensor part = dropped(dropout, window, {2, 5, 6});
    for (std::int64_t sample = 0; sample < 2; ++sample) {
        for (std::int64_t row = 0; row < 5; ++row) {
            for (std::int64_t column = 0; column < 6; ++column) {
                EXPECT_EQ(part.as<float>().row(sample * 5 + row)[column],
                          whole.as<float>().row((sample + 1) * 8 + row + 3)[column + 4]);
            }
        }
    }
}

TEST(Dropout, DropsTheShareItIsAskedToAndKeepsTheMean) {
    constexpr std::int64_t kSize = 100000;
    for (const double probability : {0.0, 0.1, 0.5, 0.9}) {
        const Tensor x = dropped({probability, {5, 6}}, {1, kSize, 0, 0, 0}, {1, 1, kSize});
        const auto zeros = static_cast<double>(std::ranges::count(x.as<float>(), 0.F));
        const double deviation = std::sqrt(kSize * probability * (1 - probability));
        EXPECT_NEAR(zeros, kSize * probability, 4 * deviation + 1e-9);
        EXPECT_FLOAT_EQ(static_cast<float>(largest_magnitude<float>(x.as<float>())),
                        static_cast<float>(1 / (1 - probability)));
    }
}

TEST(Dropout, HasAMaskOfItsOwnInEveryStream) {
    const Window window{1, 1000, 0, 0, 0};
    const Tensor a = dropped({0.5, {5, 6}}, window, {1, 1, 1000});
    EXPECT_TRUE(same_bits(a, dropped({0.5, {5, 6}}, window, {1, 1, 1000})));
    EXPECT_FALSE(same_bits(a, dropped({0.5, {5, 7}}, window, {1, 1, 1000})));
    EXPECT_FALSE(same_bits(a, dropped({0.5, {6, 6}}, window, {1, 1, 1000})));
}

TEST(Initialisation, IsNormal) {
    constexpr std::int64_t kSize = 200000;
    const Tensor x({kSize}, DataType::Fp64);
    fill_normal(stream_of(1, "wte.weight"), 0.02, 0, x.as<double>());
    double moment[5] = {};
    for (const double element : x.as<double>()) {
        for (int power = 1; power <= 4; ++power) moment[power] += std::pow(element / 0.02, power);
    }
    // The deviations of the first four sample moments: 1, sqrt 2, sqrt 15, sqrt 96.
    const double root = std::sqrt(static_cast<double>(kSize));
    EXPECT_NEAR(moment[1] / kSize, 0, 4 * 1 / root);
    EXPECT_NEAR(moment[2] / kSize, 1, 4 * std::sqrt(2.0) / root);
    EXPECT_NEAR(moment[3] / kSize, 0, 4 * std::sqrt(15.0) / root);
    EXPECT_NEAR(moment[4] / kSize, 3, 4 * std::sqrt(96.0) / root);
}

TEST(Initialisation, GivesASliceTheBitsOfTheWhole) {
    const RandomStream stream = stream_of(9, "h.0.attn.c_attn.weight");
    const Tensor whole({101}), part({30});
    fill_normal(stream, 1, 0, whole.as<float>());
    for (const std::int64_t first : {0, 1, 2, 3, 64, 71}) {
        fill_normal(stream, 1, first, part.as<float>());
        for (std::int64_t i = 0; i < 30; ++i) {
            EXPECT_EQ(part.as<float>()[i], whole.as<float>()[first + i]);
        }
    }
}

}  // namespace
}  // namespace debubble::exec
