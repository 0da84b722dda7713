#include "exec/cpu/fp32_operands.h"

#include <algorithm>
#include <array>
#include <cstring>

#include "exec/core/half.h"
#include "exec/cpu/vectorise.h"

namespace debubble::exec {

namespace {

template <class Half>
void widen_run(const std::byte* from, std::int64_t count, float* to) {
    const auto* bits = reinterpret_cast<const std::uint16_t*>(from);
    vectorised([=]() DEBUBBLE_INLINE {
        for (std::int64_t i = 0; i < count; ++i) to[i] = to_float(Half{bits[i]});
    });
}

template <class Narrow>
void narrow_run(const float* from, std::int64_t count, std::byte* to, const Narrow& one) {
    auto* bits = reinterpret_cast<std::uint16_t*>(to);
    vectorised([=]() DEBUBBLE_INLINE {
        for (std::int64_t i = 0; i < count; ++i) bits[i] = one(from[i]).bits;
    });
}

std::size_t bytes_of(std::int64_t count, DataType type) {
    return static_cast<std::size_t>(count * size_of(type));
}

}  // namespace

void widen(const ConstTensorView& from, float* to) {
    const std::int64_t count = from.shape.elements();
    switch (from.type) {
        case DataType::Bf16: return widen_run<BFloat16>(from.data, count, to);
        case DataType::Fp16: return widen_run<Float16>(from.data, count, to);
        case DataType::Fp32:
            if (count > 0) std::memcpy(to, from.data, bytes_of(count, from.type));
            return;
        case DataType::Fp64:
        case DataType::Int32: assert(false && "operators do not compute with this type");
    }
}

void narrow(const float* from, const TensorView& to) {
    const std::int64_t count = to.shape.elements();
    switch (to.type) {
        case DataType::Bf16:
            return narrow_run(from, count, to.data,
                              [](float x) DEBUBBLE_INLINE { return to_bfloat16(x); });
        case DataType::Fp16:
            return narrow_run(from, count, to.data,
                              [](float x) DEBUBBLE_INLINE { return to_float16(x); });
        case DataType::Fp32:
            if (count > 0) std::memcpy(to.data, from, bytes_of(count, to.type));
            return;
        case DataType::Fp64:
        case DataType::Int32: assert(false && "operators do not compute with this type");
    }
}

void convert(const ConstTensorView& from, const TensorView& to) {
    const std::int64_t count = to.shape.elements();
    assert(from.shape.elements() == count && "a copy has the elements of what it copies");
    if (from.type == to.type) {
        if (count > 0) std::memmove(to.data, from.data, bytes_of(count, to.type));
    } else if (from.type == DataType::Fp32) {
        narrow(reinterpret_cast<const float*>(from.data), to);
    } else if (to.type == DataType::Fp32) {
        widen(from, reinterpret_cast<float*>(to.data));
    } else {
        constexpr std::int64_t kRun = 1024;
        std::array<float, kRun> run;
        for (std::int64_t first = 0; first < count; first += kRun) {
            const Shape part{std::min(kRun, count - first)};
            widen({from.data + first * size_of(from.type), part, from.type}, run.data());
            narrow(run.data(), {to.data + first * size_of(to.type), part, to.type});
        }
    }
}

}  // namespace debubble::exec
