#pragma once

#include <cstdint>

#include "exec/cuda/kernels/operands.h"

/// GEMMs, and the translation of row-major ones for a column-major library.
namespace debubble::exec::cuda {

/// A row-major matrix. If transposed, it is used with rows and columns swapped.
struct Matrix {
    Operand elements;
    std::int64_t row_stride = 0;  ///< of the stored matrix, in elements
    bool transposed = false;
};

/// The function that is applied to the GEMM's result, with its bias, before it is written. GELU is
/// the one with tanh.
enum class Epilogue : std::uint8_t {
    None,
    Gelu,          ///< c = gelu(product); `wide` [m, n] = product, kept for the backward
    GeluGradient,  ///< c = product gelu'(wide)
};

/// The GEMM c [m, n] = a [m, k] b [k, n], or, if `adds`, c += a b; plus bias [n] in every row if
/// there is one. a, b and bias have one type, c that type or fp32; sums are made in fp32.
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
    /// Sums in fp32 over k, of b [n] if `sums_of_b`, else of a [m]. For the dy in a weight's
    /// gradient they are the gradient of the bias.
    float* sums = nullptr;
    bool sums_of_b = false;

    bool is_plain() const { return epilogue == Epilogue::None && sums == nullptr; }
};

class Matmul {
public:
    virtual ~Matmul() = default;
    /// Computes a GEMM. Precondition: it is plain. Throws WorldError where the library cannot
    /// compute it.
    virtual void operator()(const Product& product) = 0;
    /// Computes a GEMM that has an epilogue or a bias. Returns false, having done nothing, where
    /// the library has no kernel that does all of it.
    virtual bool at_once(const Product& product) = 0;
};

/// A matrix as BLAS sees it: element (i, j) is i + j stride elements after the first.
struct ColumnMajor {
    std::int64_t rows = 0;
    std::int64_t columns = 0;
    std::int64_t stride = 0;
    bool transposed = false;  ///< whether it is transposed when it is used
    friend bool operator==(const ColumnMajor&, const ColumnMajor&) = default;
};

/// The same GEMM on the same memory: C [n, m] = B A, since a row-major matrix, counted by
/// columns, is its transpose. The bias then goes along the rows of C.
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
