#pragma once

#include <memory>

#include "exec/core/operator_options.h"
#include "exec/core/tensor.h"

/// GEMMs by oneDNN. Only matmul.cpp knows its interface (version 2).
namespace debubble::exec::onednn {

/// A matrix within a larger array; one of the strides, in elements, is 1.
struct Operand {
    const std::byte* data = nullptr;
    DataType type = DataType::Fp32;
    std::int64_t row_stride = 0;
    std::int64_t column_stride = 1;

    /// A contiguous [rows, columns], or its transpose.
    static Operand of(const ConstTensorView& x) { return {x.data, x.type, x.shape.columns(), 1}; }
    Operand transposed() const { return {data, type, column_stride, row_stride}; }
};

struct Result {
    std::byte* data = nullptr;
    DataType type = DataType::Fp32;
    std::int64_t row_stride = 0;
};

/// The size of a GEMM that differs from call to call. One primitive then serves all calls, while
/// otherwise each size has its own: making one costs some 150 microseconds, and hundreds of them do
/// not fit together into the caches of instructions.
enum class Varies { Nothing, M, K };

/// One GEMM: c [m, n] = or += a [m, k] b [k, n], + bias [n] to every row if there is one.
struct Product {
    std::int64_t m = 0;
    std::int64_t n = 0;
    std::int64_t k = 0;
    Operand a;
    Operand b;
    Result c;
    Write write = Write::Overwrite;
    ConstTensorView bias = {};
    Varies varies = Varies::Nothing;
};

/// Whether this processor multiplies operands of the type: fp32 always, bf16 with AVX512.
bool multiplies(DataType type);

/// Keeps the primitive of each shape, since making one costs up to a millisecond. One thread uses
/// it at a time.
class Matmul {
public:
    explicit Matmul(int threads);
    ~Matmul();
    Matmul(Matmul&&) noexcept;

    /// a and b have one type, for which multiplies() is true; c has that type or fp32. Sums are
    /// made in fp32, in an order that depends only on the shape, on what varies and on the threads.
    void operator()(const Product& product);

private:
    struct Made;
    std::unique_ptr<Made> made_;
};

}  // namespace debubble::exec::onednn
