#include "exec/comm/local/meeting.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include "exec/core/half.h"

namespace debubble::exec {

namespace {

/// Elements of a block, whose sums stay in the first-level cache.
constexpr std::size_t kBlock = 1024;

double widen(double value) {
    return value;
}
float widen(float value) {
    return value;
}
/// Integers wrap round instead of overflowing.
std::uint32_t widen(std::uint32_t value) {
    return value;
}
float widen(BFloat16 value) {
    return to_float(value);
}
float widen(Float16 value) {
    return to_float(value);
}

template <class T, class Sum>
T narrow(Sum sum) {
    if constexpr (std::is_same_v<T, BFloat16>) {
        return to_bfloat16(sum);
    } else if constexpr (std::is_same_v<T, Float16>) {
        return to_float16(sum);
    } else {
        return sum;
    }
}

/// A NaN in any source must not vanish: an overflow flag may depend on it.
template <class T>
T larger(T a, T b) {
    if constexpr (std::is_same_v<T, std::uint32_t>) {
        return static_cast<std::int32_t>(b) > static_cast<std::int32_t>(a) ? b : a;
    } else {
        return b > a || b != b ? b : a;
    }
}

template <class T>
void reduce_block(std::span<const ConstBuffer> sources, std::span<const Buffer> targets,
                  Reduction reduction, std::size_t begin, std::size_t count) {
    std::array<decltype(widen(T{})), kBlock> sums;
    std::array<T, kBlock> values;  // buffers need not be aligned
    for (std::size_t s = 0; s < sources.size(); ++s) {
        std::memcpy(values.data(), sources[s].bytes.data() + begin * sizeof(T), count * sizeof(T));
        if (s == 0) {
            for (std::size_t i = 0; i < count; ++i) sums[i] = widen(values[i]);
        } else if (reduction == Reduction::Sum) {
            for (std::size_t i = 0; i < count; ++i) sums[i] += widen(values[i]);
        } else {
            for (std::size_t i = 0; i < count; ++i) sums[i] = larger(sums[i], widen(values[i]));
        }
    }
    for (std::size_t i = 0; i < count; ++i) values[i] = narrow<T>(sums[i]);
    for (const Buffer& target : targets) {
        std::memcpy(target.bytes.data() + begin * sizeof(T), values.data(), count * sizeof(T));
    }
}

template <class T>
void reduce_all(std::span<const ConstBuffer> sources, std::span<const Buffer> targets,
                Reduction reduction, std::size_t begin, std::size_t end) {
    for (; begin < end; begin += kBlock) {
        reduce_block<T>(sources, targets, reduction, begin, std::min(kBlock, end - begin));
    }
}

}  // namespace

void reduce(std::span<const ConstBuffer> sources, std::span<const Buffer> targets,
            Reduction reduction, std::size_t begin, std::size_t end) {
    switch (sources.front().type) {
        case DataType::Fp64: return reduce_all<double>(sources, targets, reduction, begin, end);
        case DataType::Fp32: return reduce_all<float>(sources, targets, reduction, begin, end);
        case DataType::Fp16: return reduce_all<Float16>(sources, targets, reduction, begin, end);
        case DataType::Bf16: return reduce_all<BFloat16>(sources, targets, reduction, begin, end);
        case DataType::Int32:
            return reduce_all<std::uint32_t>(sources, targets, reduction, begin, end);
    }
}

}  // namespace debubble::exec
