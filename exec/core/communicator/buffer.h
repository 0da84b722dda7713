#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <type_traits>

#include "base/check.h"
#include "exec/core/tensor.h"

/// The content of a communication: elements of one type, contiguous in host memory.
namespace debubble::exec {

template <class Byte>
struct BasicBuffer {
    std::span<Byte> bytes;
    DataType type = DataType::Fp32;

    BasicBuffer() = default;
    BasicBuffer(std::span<Byte> memory, DataType element) : bytes(memory), type(element) {
        DEBUBBLE_CHECK(memory.size() % size_of(element) == 0, "a buffer holds whole elements");
    }
    BasicBuffer(const TensorView& tensor)
        : BasicBuffer({tensor.data, static_cast<std::size_t>(tensor.bytes())}, tensor.type) {}
    /// A buffer that may be written may be read.
    operator BasicBuffer<const std::byte>() const requires(!std::is_const_v<Byte>) {
        return {bytes, type};
    }

    std::size_t elements() const { return bytes.size() / size_of(type); }
    /// Part `index` of `count` equal ones.
    BasicBuffer part(int index, int count) const {
        DEBUBBLE_CHECK(elements() % count == 0, "the parts are equal");
        const std::size_t size = bytes.size() / count;
        return {bytes.subspan(index * size, size), type};
    }
};

using Buffer = BasicBuffer<std::byte>;
using ConstBuffer = BasicBuffer<const std::byte>;

/// The elements of a range as a buffer; their type gives the data type.
template <class T>
requires is_element<T> Buffer buffer_of(std::span<T> elements) {
    return {std::as_writable_bytes(elements), data_type_of<T>};
}
template <class T>
requires is_element<T> ConstBuffer buffer_of(std::span<const T> elements) {
    return {std::as_bytes(elements), data_type_of<T>};
}

}  // namespace debubble::exec
