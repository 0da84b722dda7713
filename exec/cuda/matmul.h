#pragma once

#include <cstdint>

#include "exec/cuda/kernels/operands.h"

/// Matrix products, and how row-major ones are asked of a library that counts by columns.
namespace debubble::exec::cuda {

/// A row-major matrix; transposed, it is used as what it would be with rows and columns swapped.
struct Matrix {
    Operand elements;
    std::int64_t row_stride = 0;  ///< of what is stored, in elements
    bool transposed = false;
};

/// What is done to the product, with its bias, before it is written. GELU is the one with tanh.
enum class Epilogue : std::uint8_t {
    None,
    Gelu,          ///< c = gelu(product); `wide` [m, n] = product, kept for the backward
    GeluGradient,  ///< c = product gelu'(wide)
};

/// c [m, n] = or, if `adds`, += a [m, k] b [k, n], + bias [n] to every row if there is one.
/// a, b and bias are of one type, c of that type or fp32; sums are made in fp32.
struct Product {
    std::int64_t m = 0;
    std::int64_t n = 0;
    std::int64_t k = 0;
    Matrix a;
    Matrix b;
    Result c;
    bool adds = false;
    Operand bias = {};
    Epilogue epilogue = Epilogue::None;
    Result wide = {};
    /// fp32: sums over k, of b [n] if `sums_of_b`, else of a [m]. Of the dy in a weight's gradient
    /// they are the bias's.
    float* sums = nullptr;
    bool sums_of_b = false;

    bool is_plain() const { return epilogue == Epilogue::None && sums == nullptr; }
};

class Matmul {
public:
    virtual ~Matmul() = default;
    /// Precondition: the product is plain. Throws WorldError where the library cannot make it.
    virtual void operator()(const Product& product) = 0;
    /// One that is not, or has a bias; false, and nothing is done, where the library has no kernel
    /// that does all of it.
    virtual bool at_once(const Product& product) = 0;
};

/// A matrix as BLAS sees it: element (i, j) is i + j stride elements behind the first.
struct ColumnMajor {
    std::int64_t rows = 0;
    std::int64_t columns = 0;
    std::int64_t stride = 0;
    bool transposed = false;  ///< to be transposed when it is used
    friend bool operator==(const ColumnMajor&, const ColumnMajor&) = default;
};

/// The same product on the same memory: C [n, m] = B A, since what is row-major is, counted by
/// columns, its transpose. The bias then goes along the rows of C.
struct ColumnMajorProduct {
    ColumnMajor first;   ///< memory of b
    ColumnMajor second;  ///< memory of a
    ColumnMajor result;  ///< memory of c
};
constexpr ColumnMajorProduct by_columns(const Product& p) {
    const auto stored = [](std::int64_t rows, std::int64_t columns, const Matrix& matrix) {
        return matrix.transposed ? ColumnMajor{rows, columns, matrix.row_stride, true}
                                 : ColumnMajor{columns, rows, matrix.row_stride, false};
    };
    return {stored(p.k, p.n, p.b), stored(p.m, p.k, p.a), {p.n, p.m, p.n, false}};
}

}  // namespace debubble::exec::cuda
