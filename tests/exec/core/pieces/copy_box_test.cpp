#include <cmath>
#include <cstring>
#include <limits>

#include <gtest/gtest.h>

#include "exec/core/half.h"
#include "exec/core/pieces/pieces.h"

namespace debubble::exec {
namespace {

Slice dense(const Dimensions& shape) {
    return {whole(shape), 0, row_major_strides(shape)};
}

/// One element, through bytes that are not aligned.
template <class To, class From>
To converted(From value, DataType from, DataType to) {
    alignas(8) std::byte source[17];
    alignas(8) std::byte target[17];
    std::memcpy(source + 1, &value, sizeof value);
    copy_box(whole({1}), dense({1}), from, source + 1, dense({1}), to, target + 1);
    To result;
    std::memcpy(&result, target + 1, sizeof result);
    return result;
}

TEST(CopyBox, EveryHalfSurvivesFp32) {
    for (std::uint32_t bits = 0; bits < 65536; ++bits) {
        const auto half = static_cast<std::uint16_t>(bits);
        for (const DataType type : {DataType::Fp16, DataType::Bf16}) {
            const auto wide = converted<float>(half, type, DataType::Fp32);
            const auto back = converted<std::uint16_t>(wide, DataType::Fp32, type);
            if (std::isnan(wide)) {
                EXPECT_TRUE(std::isnan(converted<float>(back, type, DataType::Fp32)));
            } else {
                ASSERT_EQ(back, half);
            }
        }
    }
}

TEST(CopyBox, RoundsToNearestEven) {
    const auto bf16 = [](float value) {
        return converted<std::uint16_t>(value, DataType::Fp32, DataType::Bf16);
    };
    EXPECT_EQ(bf16(1.00390625f), 0x3f80);  // half way between 1 and the next
    EXPECT_EQ(bf16(1.01171875f), 0x3f82);
    EXPECT_EQ(bf16(1.00390637f), 0x3f81);
    const auto fp16 = [](double value) {
        return converted<std::uint16_t>(value, DataType::Fp64, DataType::Fp16);
    };
    EXPECT_EQ(fp16(65519.0), 0x7bff);
    EXPECT_EQ(fp16(65520.0), 0x7c00);
    EXPECT_EQ(converted<double>(0.1f, DataType::Fp32, DataType::Fp64), double{0.1f});
    EXPECT_EQ(converted<float>(0.1, DataType::Fp64, DataType::Fp32), 0.1f);
}

TEST(CopyBox, PicksABoxOutOfStrides) {
    const float from[] = {0, 1, 2, 10, 11, 12, 20, 21, 22};
    float to[4] = {};
    // The lower right corner of three by three, transposed.
    const Slice target{{{1, 1}, {2, 2}}, 0, {1, 2}};
    copy_box({{1, 1}, {2, 2}}, dense({3, 3}), DataType::Fp32,
             reinterpret_cast<const std::byte*>(from), target, DataType::Fp32,
             reinterpret_cast<std::byte*>(to));
    const float expected[] = {11, 21, 12, 22};
    EXPECT_TRUE(std::equal(to, to + 4, expected));
    float scalar = 0;
    copy_box({}, dense({}), DataType::Fp32, reinterpret_cast<const std::byte*>(from + 4), dense({}),
             DataType::Fp32, reinterpret_cast<std::byte*>(&scalar));
    EXPECT_EQ(scalar, 11);
}

TEST(CopyBox, IntegersStayIntegers) {
    EXPECT_TRUE(can_convert(DataType::Int32, DataType::Int32));
    EXPECT_FALSE(can_convert(DataType::Int32, DataType::Fp32));
    EXPECT_FALSE(can_convert(DataType::Fp32, DataType::Int32));
    EXPECT_TRUE(can_convert(DataType::Fp16, DataType::Bf16));
}

}  // namespace
}  // namespace debubble::exec
