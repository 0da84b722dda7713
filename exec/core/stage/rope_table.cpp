#include "exec/core/stage/rope_table.h"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace debubble::exec {

namespace {

using models::RopeScaling;

/// A wavelength that is much shorter than the original texts stays, a longer one is stretched by
/// the factor, and those between are mixed.
double llama3(const RopeScaling& how, double frequency) {
    const double turns =
        static_cast<double>(how.original_positions) * frequency / (2 * std::numbers::pi);
    if (turns > how.high_frequency_factor) return frequency;
    if (turns < how.low_frequency_factor) return frequency / how.factor;
    const double kept =
        (turns - how.low_frequency_factor) / (how.high_frequency_factor - how.low_frequency_factor);
    return (1 - kept) * frequency / how.factor + kept * frequency;
}

/// The indices of pairs between which yarn passes from kept angles to divided ones.
struct YarnRamp {
    double low, high;

    YarnRamp(const RopeScaling& how, double theta, double columns) {
        const auto pair_of = [&](double turns) {
            const double original = static_cast<double>(how.original_positions);
            return columns * std::log(original / (turns * 2 * std::numbers::pi)) /
                   (2 * std::log(theta));
        };
        low = pair_of(how.beta_fast);
        high = pair_of(how.beta_slow);
        if (how.truncate) {
            low = std::floor(low);
            high = std::ceil(high);
        }
        low = std::max(low, 0.0);
        high = std::min(high, columns - 1);
        if (low == high) high += 0.001;  // no division by zero
    }
    double divided(std::int64_t pair) const {
        return std::clamp((static_cast<double>(pair) - low) / (high - low), 0.0, 1.0);
    }
};

/// The magnitude of yarn (Peng et al. 2023, arXiv:2309.00071, equation 22).
double yarn_magnitude(double factor, double scale) {
    return factor <= 1 ? 1 : 0.1 * scale * std::log(factor) + 1;
}

/// The base of the angles, which `dynamic` changes for texts beyond the longest.
double base_of(const RotaryAngles& angles, std::int64_t positions) {
    if (!angles.scaling || angles.scaling->kind != RopeScaling::Kind::Dynamic ||
        positions <= angles.longest)
        return angles.theta;
    const double factor = angles.scaling->factor, columns = static_cast<double>(angles.columns);
    const double longer = static_cast<double>(positions) / static_cast<double>(angles.longest);
    return angles.theta * std::pow(factor * longer - (factor - 1), columns / (columns - 2));
}

double scaled(const RotaryAngles& angles, double frequency, std::int64_t pair,
              std::int64_t positions) {
    if (!angles.scaling) return frequency;
    const RopeScaling& how = *angles.scaling;
    switch (how.kind) {
        case RopeScaling::Kind::Linear: return frequency / how.factor;
        case RopeScaling::Kind::Llama3: return llama3(how, frequency);
        case RopeScaling::Kind::Yarn: {
            const double divided =
                YarnRamp(how, angles.theta, static_cast<double>(angles.columns)).divided(pair);
            return frequency / how.factor * divided + frequency * (1 - divided);
        }
        case RopeScaling::Kind::Longrope: {
            const bool longer = positions > how.original_positions;
            const auto& factors = longer ? how.long_factors : how.short_factors;
            return frequency / factors.at(pair);
        }
        case RopeScaling::Kind::Dynamic: break;
    }
    return frequency;
}

}  // namespace

RotaryAngles angles_of(const models::Attention& attention, std::int64_t max_positions) {
    const std::int64_t columns = attention.latent
                                     ? attention.latent->rope_dim
                                     : attention.rotary_dim.value_or(attention.head_dim);
    return {attention.rope_theta, columns, attention.rope_scaling, max_positions};
}

std::vector<double> inverse_frequencies(const RotaryAngles& angles, std::int64_t positions) {
    const double base = base_of(angles, positions);
    std::vector<double> frequencies;
    for (std::int64_t pair = 0; pair < angles.columns / 2; ++pair) {
        const double exponent = static_cast<double>(2 * pair) / static_cast<double>(angles.columns);
        frequencies.push_back(scaled(angles, std::pow(base, -exponent), pair, positions));
    }
    return frequencies;
}

double rotary_magnitude(const RotaryAngles& angles) {
    if (!angles.scaling) return 1;
    const RopeScaling& how = *angles.scaling;
    if (how.kind == RopeScaling::Kind::Longrope && how.factor > 1)
        return std::sqrt(1 + std::log(how.factor) /
                                 std::log(static_cast<double>(how.original_positions)));
    const bool yarn = how.kind == RopeScaling::Kind::Yarn;
    return yarn && !how.mscale ? yarn_magnitude(how.factor, 1) : 1;
}

double score_magnitude(const models::Attention& attention) {
    const auto& how = attention.rope_scaling;
    if (!how || how->kind != RopeScaling::Kind::Yarn || !how->mscale) return 1;
    const double magnitude = yarn_magnitude(how->factor, *how->mscale);
    return magnitude * magnitude;
}

template <class T>
void rope_table(const RotaryAngles& angles, View<T> cosines, View<T> sines) {
    const std::vector<double> frequencies = inverse_frequencies(angles, cosines.rows());
    const double magnitude = rotary_magnitude(angles);
    for (std::int64_t position = 0; position < cosines.rows(); ++position) {
        for (std::size_t i = 0; i < frequencies.size(); ++i) {
            const double angle = static_cast<double>(position) * frequencies[i];
            cosines.row(position)[i] = static_cast<T>(magnitude * std::cos(angle));
            sines.row(position)[i] = static_cast<T>(magnitude * std::sin(angle));
        }
    }
}

template void rope_table<float>(const RotaryAngles&, View<float>, View<float>);
template void rope_table<double>(const RotaryAngles&, View<double>, View<double>);

}  // namespace debubble::exec
