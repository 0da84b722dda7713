#pragma once

#include <array>
#include <cassert>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <string>
#include <type_traits>

/// Dense arrays as operators see them: contiguous and row-major, the last dimension innermost. A
/// view does not own its memory; a Tensor does.
namespace debubble::exec {

enum class DataType : std::uint8_t { Fp64, Fp32, Fp16, Bf16, Int32 };

constexpr std::int64_t size_of(DataType type) {
    switch (type) {
        case DataType::Fp64: return 8;
        case DataType::Fp32:
        case DataType::Int32: return 4;
        case DataType::Fp16:
        case DataType::Bf16: return 2;
    }
    return 0;
}

template <class T>
inline constexpr bool is_element = false;
template <>
inline constexpr bool is_element<double> = true;
template <>
inline constexpr bool is_element<float> = true;
template <>
inline constexpr bool is_element<std::int32_t> = true;

/// The data type whose elements the processor computes with as `T`.
template <class T>
requires is_element<std::remove_const_t<T>>
inline constexpr DataType data_type_of =
    std::is_same_v<std::remove_const_t<T>, double>  ? DataType::Fp64
    : std::is_same_v<std::remove_const_t<T>, float> ? DataType::Fp32
                                                    : DataType::Int32;

/// Sizes of the dimensions, outermost first. It uses no heap memory, since views are made for every
/// operator of every microbatch.
class Shape {
public:
    static constexpr int kMaxRank = 5;

    constexpr Shape() = default;
    constexpr Shape(std::initializer_list<std::int64_t> sizes) {
        assert(sizes.size() <= kMaxRank && "a tensor has at most five dimensions");
        for (const std::int64_t size : sizes) {
            assert(size >= 0 && "the size of a dimension is not negative");
            sizes_[rank_++] = size;
        }
    }

    constexpr int rank() const { return rank_; }
    constexpr std::int64_t operator[](int axis) const {
        assert(axis >= 0 && axis < rank_ && "no such axis");
        return sizes_[axis];
    }
    constexpr std::int64_t elements() const {
        std::int64_t product = 1;
        for (int axis = 0; axis < rank_; ++axis) product *= sizes_[axis];
        return product;
    }
    constexpr std::int64_t columns() const { return rank_ == 0 ? 1 : sizes_[rank_ - 1]; }
    std::string text() const;  ///< such as "[2, 3, 4]"

    friend constexpr bool operator==(const Shape&, const Shape&) = default;

private:
    std::array<std::int64_t, kMaxRank> sizes_{};
    int rank_ = 0;
};

/// Elements of a known type, read-only if `T` is const. A view without data means an operand that
/// the operator does not have, such as a bias.
template <class T>
struct View {
    T* data = nullptr;
    Shape shape;

    constexpr View() = default;
    constexpr View(T* first, const Shape& its_shape) : data(first), shape(its_shape) {}
    constexpr operator View<const T>() const requires(!std::is_const_v<T>) { return {data, shape}; }

    explicit operator bool() const { return data != nullptr; }
    std::int64_t size() const { return data ? shape.elements() : 0; }
    std::int64_t columns() const { return shape.columns(); }
    /// The product of all dimensions but the last: an operator's tokens.
    std::int64_t rows() const { return columns() == 0 ? 0 : size() / columns(); }
    T* row(std::int64_t index) const { return data + index * columns(); }
    T& operator[](std::int64_t index) const { return data[index]; }
    T* begin() const { return data; }
    T* end() const { return data + size(); }
    /// The same elements with another shape.
    View reshaped(const Shape& new_shape) const {
        assert(new_shape.elements() == shape.elements() && "a reshape keeps the elements");
        return {data, new_shape};
    }
};

/// Memory with a shape and a data type, before anything computes with it: the form in which arena,
/// communicators and checkpoints pass tensors on.
struct TensorView {
    std::byte* data = nullptr;
    Shape shape;
    DataType type = DataType::Fp32;

    explicit operator bool() const { return data != nullptr; }
    std::int64_t bytes() const { return shape.elements() * size_of(type); }
    template <class T>
    View<T> as() const {
        assert(type == data_type_of<T> && "the elements are of another type");
        return {reinterpret_cast<T*>(data), shape};
    }
    TensorView reshaped(const Shape& new_shape) const {
        assert(new_shape.elements() == shape.elements() && "a reshape keeps the elements");
        return {data, new_shape, type};
    }
};

/// A read-only TensorView. Without data it means an operand that an operator does not have.
struct ConstTensorView {
    const std::byte* data = nullptr;
    Shape shape;
    DataType type = DataType::Fp32;

    ConstTensorView() = default;
    ConstTensorView(const std::byte* first, const Shape& its_shape, DataType element)
        : data(first), shape(its_shape), type(element) {}
    ConstTensorView(const TensorView& view) : ConstTensorView(view.data, view.shape, view.type) {}

    explicit operator bool() const { return data != nullptr; }
    std::int64_t bytes() const { return shape.elements() * size_of(type); }
    template <class T>
    View<const T> as() const {
        assert((data == nullptr || type == data_type_of<T>)&&"the elements are of another type");
        return {reinterpret_cast<const T*>(data), shape};
    }
    ConstTensorView reshaped(const Shape& new_shape) const {
        assert(new_shape.elements() == shape.elements() && "a reshape keeps the elements");
        return {data, new_shape, type};
    }
};

/// A tensor that owns its elements. They start as zeros and lie on cache lines of their own.
class Tensor {
public:
    Tensor() = default;
    explicit Tensor(const Shape& shape, DataType type = DataType::Fp32);

    explicit operator bool() const { return memory_ != nullptr; }
    const Shape& shape() const { return shape_; }
    DataType type() const { return type_; }
    std::int64_t bytes() const { return shape_.elements() * size_of(type_); }
    TensorView view() const { return {memory_.get(), shape_, type_}; }
    template <class T>
    View<T> as() const {
        return view().as<T>();
    }
    Tensor clone() const;
    void zero();

private:
    struct Free {
        void operator()(std::byte* memory) const;
    };
    std::unique_ptr<std::byte, Free> memory_;
    Shape shape_;
    DataType type_ = DataType::Fp32;
};

}  // namespace debubble::exec
