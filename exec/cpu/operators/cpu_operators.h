#pragma once

#include "exec/core/kernels.h"
#include "exec/core/kernels/overrides.h"
#include "exec/cpu/row_walk.h"

/// The operators of Kernels that every back end of the processor computes by the loops of
/// exec/cpu/loops: all but GEMMs and attention.
namespace debubble::exec {

/// Every operator computes in fp32, whatever the type of its operands: a walk cuts its rows into
/// blocks, which are copied to fp32 where necessary, and rounded once at the end.
class CpuOperators : public Kernels {
public:
    explicit CpuOperators(RowWalk walk) : walk_(std::move(walk)) {}

    DEBUBBLE_OVERRIDE_ALL_BUT_PRODUCTS;
    void finish() override {}

protected:
    /// The elements of operands with one shape, as rows of one element.
    template <class Body>
    void each_element(const ConstTensorView& x, const Body& body) {
        walk_(x.shape.elements(), 1, body);
    }
    template <class Body>
    void each_row(const ConstTensorView& x, const Body& body) {
        walk_(rows_of(x), x.shape.columns(), body);
    }

    RowWalk walk_;
    Fp32Scratch scratch_;  ///< for operands that a walk does not cut
};

}  // namespace debubble::exec
