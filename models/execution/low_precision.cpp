#include "models/execution/low_precision.h"

#include "base/check.h"
#include "models/execution/laws.h"

namespace debubble::models {

namespace {

constexpr std::int64_t kBlock = 128;      // fp32 scale
constexpr std::int64_t kMxBlock = 32;     // E8M0 scale
constexpr std::int64_t kNvFp4Block = 16;  // E4M3 scale
constexpr std::int64_t kSumStep = 16;     // bytes that the matrix units read of each row

/// Bytes of one value with its share of a scale.
double width_of(Narrow type) {
    switch (type) {
        case Narrow::None: return 0;
        case Narrow::Fp8: return 1;
        case Narrow::Fp8Blockwise: return 1 + 4.0 / kBlock;
        case Narrow::MxFp8: return 1 + 1.0 / kMxBlock;
        case Narrow::NvFp4: return 0.5 + 1.0 / kNvFp4Block;
    }
    return 0;
}

/// The copies of a weight: a blockwise one has scales of squares, whose share is nothing.
double weight_copies(const LowPrecision& how) {
    const CastRule rule = cast_rule(how);
    const double width = rule.type == Narrow::Fp8Blockwise ? 1 : width_of(rule.type);
    return rule.copies * width;
}

}  // namespace

std::string_view name_of(Recipe recipe) {
    switch (recipe) {
        case Recipe::None: return "bf16";
        case Recipe::Fp8Delayed: return "fp8-delayed";
        case Recipe::Fp8Current: return "fp8-current";
        case Recipe::Fp8Blockwise: return "fp8-blockwise";
        case Recipe::Fp8Rowwise: return "fp8-rowwise";
        case Recipe::MxFp8: return "mxfp8";
        case Recipe::NvFp4: return "nvfp4";
    }
    return "";
}

Narrow operands_of(Recipe recipe) {
    switch (recipe) {
        case Recipe::None: return Narrow::None;
        case Recipe::Fp8Delayed:
        case Recipe::Fp8Current:
        case Recipe::Fp8Rowwise: return Narrow::Fp8;
        case Recipe::Fp8Blockwise: return Narrow::Fp8Blockwise;
        case Recipe::MxFp8: return Narrow::MxFp8;
        case Recipe::NvFp4: return Narrow::NvFp4;
    }
    return Narrow::None;
}

std::int64_t narrow_bytes(Narrow type, std::int64_t elements) {
    const auto up = [&](std::int64_t parts) { return (elements + parts - 1) / parts; };
    switch (type) {
        case Narrow::None: break;
        case Narrow::Fp8: return elements;
        case Narrow::Fp8Blockwise: return elements + 4 * up(kBlock);
        case Narrow::MxFp8: return elements + up(kMxBlock);
        case Narrow::NvFp4: return up(2) + up(kNvFp4Block);
    }
    DEBUBBLE_CHECK(false, "only a low-precision type has packed bytes");
    return 0;
}

std::int64_t e5m6_bytes(std::int64_t elements) {
    return (3 * elements + 1) / 2 + 4 * ((elements + kBlock - 1) / kBlock);
}

std::int64_t width_multiple(Recipe recipe) {
    switch (operands_of(recipe)) {
        case Narrow::None: return 1;
        case Narrow::Fp8:
        case Narrow::Fp8Blockwise: return kSumStep;
        case Narrow::MxFp8: return kMxBlock;
        case Narrow::NvFp4: return kNvFp4Block;
    }
    return 1;
}

std::int64_t expert_rows_multiple(Recipe recipe) {
    constexpr std::int64_t kNvFp4Rows = 32;  // 16 bytes
    return recipe == Recipe::NvFp4 ? kNvFp4Rows : width_multiple(recipe);
}

CastRule cast_rule(const LowPrecision& how) {
    CastRule rule;
    rule.type = operands_of(how.recipe);
    switch (how.recipe) {
        case Recipe::None: return rule;
        case Recipe::Fp8Delayed:
        case Recipe::Fp8Current:
            rule.reads_twice = how.recipe == Recipe::Fp8Current;
            rule.copies = how.transposes ? 2 : 1;
            rule.second_is_transpose = how.transposes;
            rule.pace = laws().tensor_cast;
            return rule;
        case Recipe::Fp8Rowwise:
            rule.reads_twice = true;
            rule.copies = 2;
            rule.pace = laws().tensor_cast;
            return rule;
        case Recipe::Fp8Blockwise:
        case Recipe::MxFp8:
            rule.copies = 2;
            rule.pace = laws().block_cast;
            return rule;
        case Recipe::NvFp4:
            rule.reads_twice = true;
            rule.copies = 2;
            rule.pace = laws().nvfp4_cast;
            return rule;
    }
    return rule;
}

double amax_pace() {
    return laws().amax_pass;
}

double weight_bytes(const LowPrecision& how, std::int64_t wide) {
    const auto own = static_cast<double>(wide);
    if (how.recipe == Recipe::None || !how.keeps_casts) return own;
    return (how.narrow_parameters ? 0 : own) + weight_copies(how);
}

double gathered_weight_bytes(const LowPrecision& how, std::int64_t wide) {
    if (!how.narrow_parameters || how.recipe == Recipe::MxFp8) return static_cast<double>(wide);
    return how.recipe == Recipe::NvFp4 ? width_of(Narrow::NvFp4) : 1;
}

double weight_cast_bytes(const LowPrecision& how) {
    const CastRule rule = cast_rule(how);
    if (how.recipe == Recipe::None || !how.keeps_casts) return 0;
    const bool gathered_narrow = how.narrow_parameters && how.recipe != Recipe::MxFp8;
    // A tensor gathered in 8 bits needs only its transpose; 4 bits carry both copies' scales.
    if (gathered_narrow) return rule.copies > 1 ? rule.pace * 2 * width_of(rule.type) : 0;
    return rule.pace * (2 + weight_copies(how)) + (rule.reads_twice ? 2 * laws().amax_pass : 0);
}

}  // namespace debubble::models
