#pragma once

#include <algorithm>
#include <limits>

#include "exec/cpu/fp32_operands.h"
#include "exec/cpu/pieces.h"

/// How the rows of an operator are worked off.
namespace debubble::exec {

/// Cuts rows into blocks. A body is called as body(Fp32Operands&, Rows) for each.
class RowWalk {
public:
    /// All rows at once.
    RowWalk() = default;
    /// About so many elements of an operand at a time, so that fp32 copies stay in the cache.
    explicit RowWalk(std::int64_t elements_at_once) : elements_at_once_(elements_at_once) {}

    template <class Body>
    void operator()(std::int64_t rows, std::int64_t width, const Body& body) {
        const std::int64_t at_once =
            std::max<std::int64_t>(1, elements_at_once_ / std::max<std::int64_t>(1, width));
        for (std::int64_t first = 0; first < rows; first += at_once) {
            Fp32Operands use(scratch_);
            body(use, Rows{first, std::min(at_once, rows - first), rows});
        }
    }

private:
    std::int64_t elements_at_once_ = std::numeric_limits<std::int64_t>::max();
    Fp32Scratch scratch_;
};

}  // namespace debubble::exec
