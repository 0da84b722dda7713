#pragma once

#include <bit>
#include <cstdint>
#include <numbers>

#include "exec/cpu/vectorise.h"

/// e^x, and the functions made of it, in a form that compilers can vectorise, unlike calls to the
/// library.
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

// The normal distribution of exact GELU, in a form that vectorises.

/// e^(-x^2 / 2): the density without its factor 1 / sqrt(2 pi).
DEBUBBLE_INLINE inline float unscaled_normal_density(float x) {
    return exponential(-0.5F * x * x);
}

/// The share of the standard normal distribution below x, given unscaled_normal_density(x).
///
/// With z = |x| / sqrt(2) and t = 1 / (1 + z / 2), erfc(z) e^(z^2) / t is smooth on the whole
/// half-line; a polynomial of degree 8 in t, least squares made even, fits it to a relative
/// 4.3e-8 for z <= 9.5, beyond which unscaled_normal_density(x) is zero in float.
DEBUBBLE_INLINE inline float normal_below(float x, float unscaled_density) {
    constexpr float kCoefficients[] = {1.47087147e-05F,  5.57003264e-04F, -5.74126423e-04F,
                                       -5.96550621e-03F, 5.60253734e-03F, 1.00412915e-01F,
                                       3.25145902e-01F,  5.74856415e-01F};
    const float z = (x < 0.F ? -x : x) * static_cast<float>(1 / std::numbers::sqrt2);
    const float t = 1.F / (1.F + 0.5F * z);
    const float u = (t - 0.586956522F) * (1.F / 0.413043478F);  // within [-1, 1]
    float fit = -4.9890881e-05F;
    for (const float coefficient : kCoefficients) fit = fit * u + coefficient;
    const float tail = 0.5F * t * fit * unscaled_density;
    return x < 0.F ? tail : 1.F - tail;
}

}  // namespace debubble::exec::loops
