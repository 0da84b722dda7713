#pragma once

#include <numbers>

#include "exec/cpu/loops/exponential.h"

/// The normal distribution of exact GELU, in a form that vectorises.
namespace debubble::exec::loops {

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
