#include "tests/oracle/array.h"
#include "tests/oracle/oracle.h"

namespace debubble::exec {

void Oracle::cut_patches(std::int64_t side, ConstTensorView images, TensorView patches) {
    const std::int64_t samples = images.shape[0], channels = images.shape[1];
    const std::int64_t down = images.shape[2] / side, across = images.shape[3] / side;
    const auto image = read(images, images.shape);
    const auto patch = write(patches, {samples, down * across, channels * side * side});
    for (std::int64_t s = 0; s < samples; ++s)
        for (std::int64_t c = 0; c < channels; ++c)
            for (std::int64_t y = 0; y < down * side; ++y)
                for (std::int64_t x = 0; x < across * side; ++x) {
                    const std::int64_t which = y / side * across + x / side;
                    const std::int64_t where = (c * side + y % side) * side + x % side;
                    patch(s, which, where) = image(s, c, y, x);
                }
}

void Oracle::class_token_forward(ConstTensorView patches, ConstTensorView class_token,
                                 ConstTensorView positions, TensorView y) {
    const std::int64_t samples = y.shape[0], rows = y.shape[1], hidden = y.shape[2];
    const auto patch = read(patches, {samples, rows - 1, hidden});
    const auto token = read(class_token, {hidden}), position = read(positions, {rows, hidden});
    const auto out = write(y, {samples, rows, hidden});
    for (std::int64_t s = 0; s < samples; ++s)
        for (std::int64_t r = 0; r < rows; ++r)
            for (std::int64_t j = 0; j < hidden; ++j)
                out(s, r, j) = (r == 0 ? token(j) : patch(s, r - 1, j)) + position(r, j);
}

void Oracle::class_token_backward_input(ConstTensorView dy, TensorView dpatches) {
    const std::int64_t samples = dy.shape[0], rows = dy.shape[1], hidden = dy.shape[2];
    const auto dout = read(dy, {samples, rows, hidden});
    const auto dpatch = write(dpatches, {samples, rows - 1, hidden});
    for (std::int64_t s = 0; s < samples; ++s)
        for (std::int64_t r = 1; r < rows; ++r)
            for (std::int64_t j = 0; j < hidden; ++j) dpatch(s, r - 1, j) = dout(s, r, j);
}

void Oracle::class_token_backward_weight(ConstTensorView dy, TensorView dclass_token,
                                         TensorView dpositions) {
    const std::int64_t samples = dy.shape[0], rows = dy.shape[1], hidden = dy.shape[2];
    const auto dout = read(dy, {samples, rows, hidden});
    const auto dtoken = write(dclass_token, {hidden});
    const auto dposition = write(dpositions, {rows, hidden});
    for (std::int64_t s = 0; s < samples; ++s)
        for (std::int64_t j = 0; j < hidden; ++j) {
            dtoken(j) += dout(s, 0, j);
            for (std::int64_t r = 0; r < rows; ++r) dposition(r, j) += dout(s, r, j);
        }
}

void Oracle::first_row_forward(ConstTensorView x, TensorView y) {
    const std::int64_t samples = x.shape[0], rows = x.shape[1], hidden = x.shape[2];
    const auto in = read(x, {samples, rows, hidden});
    const auto out = write(y, {samples, hidden});
    for (std::int64_t s = 0; s < samples; ++s)
        for (std::int64_t j = 0; j < hidden; ++j) out(s, j) = in(s, 0, j);
}

void Oracle::first_row_backward_input(ConstTensorView dy, TensorView dx) {
    const std::int64_t samples = dx.shape[0], rows = dx.shape[1], hidden = dx.shape[2];
    const auto dout = read(dy, {samples, hidden});
    const auto din = write(dx, {samples, rows, hidden});
    for (std::int64_t s = 0; s < samples; ++s)
        for (std::int64_t r = 0; r < rows; ++r)
            for (std::int64_t j = 0; j < hidden; ++j) din(s, r, j) = r == 0 ? dout(s, j) : 0;
}

}  // namespace debubble::exec
