#pragma once

#include <bit>
#include <cstdint>

/// The 16-bit floating-point types as bits, to and from fp32. Rounds to nearest, ties to even.
namespace debubble::exec {

/// bfloat16: the upper half of an fp32.
struct BFloat16 {
    std::uint16_t bits = 0;
};
/// IEEE 754 binary16.
struct Float16 {
    std::uint16_t bits = 0;
};

inline float to_float(BFloat16 value) {
    return std::bit_cast<float>(static_cast<std::uint32_t>(value.bits) << 16);
}

inline BFloat16 to_bfloat16(float value) {
    const auto bits = std::bit_cast<std::uint32_t>(value);
    if (value != value) return {static_cast<std::uint16_t>(bits >> 16 | 0x40)};  // stays a NaN
    return {static_cast<std::uint16_t>((bits + 0x7fff + (bits >> 16 & 1)) >> 16)};
}

inline float to_float(Float16 value) {
    const std::uint32_t sign = static_cast<std::uint32_t>(value.bits & 0x8000) << 16;
    const std::uint32_t rest = value.bits & 0x7fff;
    if (rest >= 0x7c00) return std::bit_cast<float>(sign | 0x7f800000 | rest << 13);  // inf, NaN
    // Exponents are biased by 15 there and 127 here; the product also normalises subnormals.
    const float magnitude = std::bit_cast<float>(rest << 13) * 0x1p112f;
    return std::bit_cast<float>(sign | std::bit_cast<std::uint32_t>(magnitude));
}

inline Float16 to_float16(float value) {
    const auto bits = std::bit_cast<std::uint32_t>(value);
    const auto sign = static_cast<std::uint16_t>(bits >> 16 & 0x8000);
    const std::uint32_t magnitude = bits & 0x7fffffff;
    std::uint32_t half = 0;
    if (magnitude > 0x7f800000) {
        half = 0x7e00;  // NaN
    } else if (magnitude >= 0x477ff000) {
        half = 0x7c00;  // 65520 and above round to infinity
    } else if (magnitude >= 0x38800000) {
        half = (magnitude - 0x38000000 + 0xfff + (magnitude >> 13 & 1)) >> 13;
    } else {
        // Subnormal: the sum's last bit weighs 2^-24, so the addition rounds.
        half = std::bit_cast<std::uint32_t>(std::bit_cast<float>(magnitude) + 0.5f) - 0x3f000000;
    }
    return {static_cast<std::uint16_t>(sign | half)};
}

}  // namespace debubble::exec
