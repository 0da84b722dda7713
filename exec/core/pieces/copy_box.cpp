#include "exec/core/pieces/pieces.h"

#include <cassert>
#include <cstring>

#include "base/check.h"
#include "exec/core/half.h"

namespace debubble::exec {
namespace {

template <DataType>
struct Stored;
template <>
struct Stored<DataType::Fp64> {
    using Bits = double;
    static double read(Bits value) { return value; }
    static Bits round(double value) { return value; }
};
template <>
struct Stored<DataType::Fp32> {
    using Bits = float;
    static double read(Bits value) { return value; }
    static Bits round(double value) { return static_cast<float>(value); }
};
template <>
struct Stored<DataType::Fp16> {
    using Bits = Float16;
    static double read(Bits value) { return to_float(value); }
    static Bits round(double value) { return to_float16(static_cast<float>(value)); }
};
template <>
struct Stored<DataType::Bf16> {
    using Bits = BFloat16;
    static double read(Bits value) { return to_float(value); }
    static Bits round(double value) { return to_bfloat16(static_cast<float>(value)); }
};

/// Neighbouring elements of two buffers. Strides count elements.
struct CopyRun {
    const std::byte* from;
    std::byte* to;
    std::int64_t count;
    std::int64_t from_stride;
    std::int64_t to_stride;
    double plus;
};

template <DataType From, DataType To>
void convert(const CopyRun& run) {
    using FromBits = typename Stored<From>::Bits;
    using ToBits = typename Stored<To>::Bits;
    for (std::int64_t i = 0; i < run.count; ++i) {
        FromBits value;
        std::memcpy(&value, run.from + i * run.from_stride * sizeof value, sizeof value);
        const ToBits rounded = Stored<To>::round(Stored<From>::read(value) + run.plus);
        std::memcpy(run.to + i * run.to_stride * sizeof rounded, &rounded, sizeof rounded);
    }
}

template <DataType From>
void convert_from(DataType to, const CopyRun& run) {
    switch (to) {
        case DataType::Fp64: return convert<From, DataType::Fp64>(run);
        case DataType::Fp32: return convert<From, DataType::Fp32>(run);
        case DataType::Fp16: return convert<From, DataType::Fp16>(run);
        case DataType::Bf16: return convert<From, DataType::Bf16>(run);
        case DataType::Int32: break;
    }
    assert(false && "integers are not converted");
}

void copy_bits(std::int64_t size, const CopyRun& run) {
    if (run.from_stride == 1 && run.to_stride == 1) {
        std::memcpy(run.to, run.from, run.count * size);
        return;
    }
    for (std::int64_t i = 0; i < run.count; ++i)
        std::memcpy(run.to + i * run.to_stride * size, run.from + i * run.from_stride * size, size);
}

void copy_run(DataType from, DataType to, const CopyRun& run) {
    if (from == to && run.plus == 0) return copy_bits(size_of(from), run);
    switch (from) {
        case DataType::Fp64: return convert_from<DataType::Fp64>(to, run);
        case DataType::Fp32: return convert_from<DataType::Fp32>(to, run);
        case DataType::Fp16: return convert_from<DataType::Fp16>(to, run);
        case DataType::Bf16: return convert_from<DataType::Bf16>(to, run);
        case DataType::Int32: break;
    }
    assert(false && "integers are not converted");
}

std::int64_t offset_in(const Slice& slice, const Dimensions& index) {
    std::int64_t offset = slice.offset;
    for (std::size_t d = 0; d < index.size(); ++d)
        offset += (index[d] - slice.box.begin[d]) * slice.strides[d];
    return offset;
}

/// Advances to the next row in row-major order of the box's outer dimensions; false after the last.
bool advance(Dimensions& index, const Box& box) {
    for (std::size_t d = box.begin.size() - 1; d-- > 0;) {
        if (++index[d] < box.begin[d] + box.extent[d]) return true;
        index[d] = box.begin[d];
    }
    return false;
}

}  // namespace

bool can_convert(DataType from, DataType to) {
    return from == to || (from != DataType::Int32 && to != DataType::Int32);
}

void copy_box(const Box& what, const Slice& from, DataType from_type, const std::byte* from_data,
              const Slice& to, DataType to_type, std::byte* to_data, double plus) {
    DEBUBBLE_CHECK(can_convert(from_type, to_type), "integers are not converted");
    if (what.elements() == 0) return;
    Dimensions index = what.begin;
    const bool scalar = index.empty();
    do {
        copy_run(
            from_type, to_type,
            {from_data + offset_in(from, index) * size_of(from_type),
             to_data + offset_in(to, index) * size_of(to_type), scalar ? 1 : what.extent.back(),
             scalar ? 1 : from.strides.back(), scalar ? 1 : to.strides.back(), plus});
    } while (!scalar && advance(index, what));
}

}  // namespace debubble::exec
