#pragma once

#include "exec/cpu/reference/operands.h"
#include "exec/cpu/reference/philox.h"

/// Dropout without a stored mask: whether an element is dropped is a function of the
/// stream and of the element's place in the whole activation, not of the rank, slice or
/// microbatch that holds it. Shapes: x, y [samples, rows, columns].
namespace debubble::exec::reference {

/// Where the local [samples, rows, columns] lie within the activation of the step.
struct Window {
    std::int64_t all_rows = 0;     ///< positions of a whole sample
    std::int64_t all_columns = 0;  ///< whole width
    std::int64_t first_sample = 0;
    std::int64_t first_row = 0;
    std::int64_t first_column = 0;

    std::uint64_t element(std::int64_t sample, std::int64_t row, std::int64_t column) const {
        return static_cast<std::uint64_t>(((first_sample + sample) * all_rows + first_row + row) *
                                              all_columns +
                                          first_column + column);
    }
};

struct Dropout {
    double probability = 0;  ///< of being dropped, in [0, 1)
    RandomStream stream;

    /// An element survives if its word is at least this.
    std::uint32_t threshold() const {
        return static_cast<std::uint32_t>(probability * 4294967296.0);
    }
    double scale() const { return 1.0 / (1.0 - probability); }  ///< of what survives
};

/// Scales `count` elements that lie side by side, the first one at `element` of the
/// stream, by 0 or by dropout.scale(). From and to may be the same.
template <Real T>
void drop_run(const Dropout& dropout, std::uint64_t element, std::int64_t count, const T* from,
              T* to);

/// y = x with some elements dropped and the rest scaled up; y may be x.
template <Real T>
void dropout_forward(const Dropout& dropout, const Window& window, In<T> x, Out<T> y);

/// The same mask on the gradient; dx may be dy.
template <Real T>
void dropout_backward_input(const Dropout& dropout, const Window& window, In<T> dy, Out<T> dx);

}  // namespace debubble::exec::reference
