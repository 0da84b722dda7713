#pragma once

#include <bit>
#include <cstdint>

#include "exec/cpu/vectorise.h"

/// e^x in a form that compilers can vectorise, unlike calls to the library.
namespace debubble::exec::loops {

/// e^x = 2^n e^r with |r| <= ln(2) / 2 (Cody and Waite 1980, "Software Manual for the
/// Elementary Functions"), e^r by its Taylor polynomial of degree 7, whose remainder is
/// below 6e-9. Error below 1.5 units in the last place; 0 below -87, where e^x would be
/// subnormal; infinite above 88.7; NaN stays NaN.
DEBUBBLE_INLINE inline float exponential(float x) {
    constexpr float kLog2E = 1.44269504F;
    constexpr float kLn2High = 0.693359375F;  // few bits, so that n times it is exact
    constexpr float kLn2Low = -2.12194440e-4F;
    // 1.5 * 2^23: a sum with it has no room for a fraction.
    constexpr float kRound = 12582912.F;
    const float low = x < -87.F ? -87.F : x;  // NaN passes both
    const float clamped = low > 89.F ? 89.F : low;
    const float shifted = clamped * kLog2E + kRound;
    const float n = shifted - kRound;
    const float r = (clamped - n * kLn2High) - n * kLn2Low;
    float power = 1.F / 5040;
    power = power * r + 1.F / 720;
    power = power * r + 1.F / 120;
    power = power * r + 1.F / 24;
    power = power * r + 1.F / 6;
    power = power * r + 1.F / 2;
    power = power * r + 1.F;
    power = power * r + 1.F;
    // Two factors, since 2^128 is not a float, while half of it times two becomes infinite as it
    // should.
    const auto exponent =
        std::bit_cast<std::uint32_t>(shifted) - std::bit_cast<std::uint32_t>(kRound);
    const auto scale = std::bit_cast<float>((exponent + 126) << 23);
    // A mask, since compilers turn two selects by one condition into branches.
    const std::uint32_t keep = static_cast<std::uint32_t>(x < -87.F) - 1;
    return std::bit_cast<float>(std::bit_cast<std::uint32_t>(power * scale * 2.F) & keep);
}

/// 1 / (1 + e^-x)
DEBUBBLE_INLINE inline float sigmoid(float x) {
    return 1.F / (1.F + exponential(-x));
}

}  // namespace debubble::exec::loops
