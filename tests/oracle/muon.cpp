#include <cmath>

#include "tests/oracle/array.h"
#include "tests/oracle/oracle.h"

namespace debubble::exec {

namespace {

/// The place of an element of the slice in its flat tensor.
std::int64_t local(const MatrixSlice& slice, std::int64_t r, std::int64_t c) {
    return slice.first + r * slice.row_stride + c * slice.column_stride;
}
std::int64_t in_whole(const MatrixSlice& slice, std::int64_t r, std::int64_t c) {
    return slice.first_in_whole + r * slice.whole_row + c;
}

}  // namespace

/// torch.optim.Muon's lerp of the momentum.
void Oracle::muon_momentum(const MuonMomentum& how, const MatrixSlice& slice,
                           ConstTensorView gradient, TensorView moment, TensorView whole) {
    const auto slope = read(gradient, {gradient.shape.elements()});
    const auto m = write(moment, {moment.shape.elements()});
    const auto to = write(whole, {whole.shape.elements()});
    for (std::int64_t r = 0; r < slice.rows; ++r)
        for (std::int64_t c = 0; c < slice.columns; ++c) {
            const std::int64_t at = local(slice, r, c);
            const double g = slope(at) * how.gradient_factor;
            m(at) = how.momentum * m(at) + (1 - how.momentum) * g;
            to(in_whole(slice, r, c)) =
                how.nesterov ? (1 - how.momentum) * g + how.momentum * m(at) : m(at);
        }
}

void Oracle::muon_step(double kept, double rate, const MatrixSlice& slice, ConstTensorView whole,
                       TensorView main, TensorView parameter) {
    const auto from = read(whole, {whole.shape.elements()});
    const auto p = write(main, {main.shape.elements()});
    for (std::int64_t r = 0; r < slice.rows; ++r)
        for (std::int64_t c = 0; c < slice.columns; ++c) {
            const std::int64_t at = local(slice, r, c);
            p(at) = kept * p(at) - rate * from(in_whole(slice, r, c));
            if (parameter) write(parameter, {parameter.shape.elements()})(at) = p(at);
        }
}

void Oracle::scale_to_unit_norm(TensorView x) {
    const auto values = write(x, {x.shape.elements()});
    double squares = 0;
    for (std::int64_t i = 0; i < x.shape.elements(); ++i) squares += values(i) * values(i);
    for (std::int64_t i = 0; i < x.shape.elements(); ++i)
        values(i) /= std::sqrt(squares) + kLeastNorm;
}

void Oracle::combine(double a, ConstTensorView x, double b, TensorView y) {
    const auto from = read(x, {x.shape.elements()});
    const auto to = write(y, {y.shape.elements()});
    for (std::int64_t i = 0; i < y.shape.elements(); ++i) to(i) = a * from(i) + b * to(i);
}

}  // namespace debubble::exec
