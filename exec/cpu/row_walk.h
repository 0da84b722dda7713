#pragma once

#include <algorithm>
#include <limits>
#include <vector>

#include "exec/core/tensor.h"
#include "exec/cpu/fp32_operands.h"
#include "exec/cpu/workers.h"

/// The division of an operator's rows among calls and workers.
namespace debubble::exec {

/// `count` elements from `first` on.
inline TensorView piece(const TensorView& x, std::int64_t first, std::int64_t count) {
    return {x.data + first * size_of(x.type), {count}, x.type};
}
inline ConstTensorView piece(const ConstTensorView& x, std::int64_t first, std::int64_t count) {
    return {x.data + first * size_of(x.type), {count}, x.type};
}

/// The product of all dimensions but the last.
inline std::int64_t rows_of(const ConstTensorView& x) {
    return x.shape.columns() == 0 ? 0 : x.shape.elements() / x.shape.columns();
}

/// A run of an operator's rows, whatever each operand has per row.
struct Rows {
    std::int64_t first = 0;
    std::int64_t count = 0;
    std::int64_t total = 0;

    std::int64_t end() const { return first + count; }
    /// The operand's elements of these rows, [count, width]; an empty operand stays empty.
    TensorView of(const TensorView& x) const {
        if (!x) return x;
        const std::int64_t width = x.shape.elements() / total;
        return piece(x, first * width, count * width).reshaped({count, width});
    }
    ConstTensorView of(const ConstTensorView& x) const {
        if (!x) return x;
        const std::int64_t width = x.shape.elements() / total;
        return piece(x, first * width, count * width).reshaped({count, width});
    }
};

// The division of an operator's rows among calls and workers.

/// Cuts rows into blocks and distributes them over workers. A body is called for each block.
class RowWalk {
public:
    /// A walk over all rows at once.
    RowWalk() = default;
    /// A walk over this many elements of an operand at a time, so that fp32 copies stay in the
    /// cache.
    RowWalk(int workers, std::int64_t elements_at_once)
        : elements_at_once_(elements_at_once), scratch_(workers) {}

    int workers() const { return static_cast<int>(scratch_.size()); }

    /// Runs body(Fp32Operands&, Rows) for rows that do not depend on each other.
    template <class Body>
    void operator()(std::int64_t rows, std::int64_t width, const Body& body) {
        const std::int64_t at_once = rows_at_once(width);
        const std::int64_t blocks = (rows + at_once - 1) / at_once;
        const int used = static_cast<int>(std::min<std::int64_t>(workers(), blocks));
        on_workers(std::max(used, 1), [&](int worker) {
            const Share mine = share_of(blocks, worker, std::max(used, 1));
            for (std::int64_t block = mine.first; block < mine.end; ++block) {
                const std::int64_t first = block * at_once;
                Fp32Operands use(scratch_[worker]);
                body(use, Rows{first, std::min(at_once, rows - first), rows});
            }
        });
    }

    /// Runs one block after the other, for sums in the order of the rows.
    template <class Body>
    void in_order(std::int64_t rows, std::int64_t width, const Body& body) {
        const std::int64_t at_once = rows_at_once(width);
        for (std::int64_t first = 0; first < rows; first += at_once) {
            Fp32Operands use(scratch_.front());
            body(use, Rows{first, std::min(at_once, rows - first), rows});
        }
    }

    /// The sum over the blocks of the results of `body`, in the order of the blocks, whichever
    /// worker has them.
    template <class Body>
    double sum(std::int64_t rows, std::int64_t width, const Body& body) {
        const std::int64_t at_once = rows_at_once(width);
        std::vector<double> parts((rows + at_once - 1) / at_once);
        (*this)(rows, width, [&](Fp32Operands& use, Rows block) {
            parts[block.first / at_once] = body(use, block);
        });
        double total = 0;
        for (const double part : parts) total += part;
        return total;
    }

private:
    std::int64_t rows_at_once(std::int64_t width) const {
        return std::max<std::int64_t>(1, elements_at_once_ / std::max<std::int64_t>(1, width));
    }

    // Half of the largest number, so that the number of blocks does not overflow.
    std::int64_t elements_at_once_ = std::numeric_limits<std::int64_t>::max() / 2;
    std::vector<Fp32Scratch> scratch_ = std::vector<Fp32Scratch>(1);  ///< scratch of each worker
};

}  // namespace debubble::exec
