#pragma once

#include <array>
#include <memory>
#include <vector>

#include "exec/core/operator_options.h"
#include "exec/core/tensor.h"

/// Converts 16-bit operands for an operator that computes in fp32.
namespace debubble::exec {

/// Memory for copies, kept from call to call and grown on demand. One thread uses it.
class Fp32Scratch {
public:
    /// The n-th piece of memory, with at least `count` elements; its content may be lost.
    float* piece(std::size_t n, std::int64_t count);

private:
    struct Piece {
        std::unique_ptr<float[]> memory;
        std::int64_t size = 0;
    };
    std::vector<Piece> pieces_;
};

/// The operands of one call as fp32: fp32 operands stay where they are, others are copied to
/// scratch. The results of the call are rounded once, when this object ends.
class Fp32Operands {
public:
    explicit Fp32Operands(Fp32Scratch& scratch) : scratch_(scratch) {}
    Fp32Operands(const Fp32Operands&) = delete;
    Fp32Operands& operator=(const Fp32Operands&) = delete;
    ~Fp32Operands();

    View<const float> in(const ConstTensorView& x);
    View<float> out(const TensorView& x);      ///< its content is undefined at first
    View<float> changed(const TensorView& x);  ///< it starts with the values of x
    View<float> out(const TensorView& x, Write write) {
        return write == Write::Add ? changed(x) : out(x);
    }

private:
    static constexpr std::size_t kMaxWritten = 4;
    struct Copy {
        const float* from = nullptr;
        TensorView to;
    };
    Fp32Scratch& scratch_;
    std::size_t used_ = 0;
    std::array<Copy, kMaxWritten> to_store_;
    std::size_t stored_ = 0;
};

}  // namespace debubble::exec
