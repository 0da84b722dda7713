#include "exec/cpu/loops/ends.h"

#include <algorithm>

#include "exec/cpu/loops/elements.h"

namespace debubble::exec::loops {

void cut_patches(std::int64_t side, In images, Out patches) {
    assert(images.shape.rank() == 4 && "images [samples, channels, height, width]");
    assert(images.size() == patches.size() && images.shape[2] % side == 0 &&
           images.shape[3] % side == 0 && "patches tile the image");
    const std::int64_t channels = images.shape[1];
    const std::int64_t down = images.shape[2] / side;
    const std::int64_t across = images.shape[3] / side;
    float* to = patches.data;
    for (std::int64_t patch = 0; patch < images.shape[0] * down * across; ++patch) {
        const std::int64_t sample = patch / (down * across);
        const std::int64_t top = patch / across % down * side;
        const std::int64_t left = patch % across * side;
        for (std::int64_t line = 0; line < channels * side; ++line, to += side) {
            const std::int64_t row = (sample * channels + line / side) * images.shape[2];
            std::copy_n(images.row(row + top + line % side) + left, side, to);
        }
    }
}

void class_token_forward(In patches, In class_token, In positions, Out y) {
    assert(y.shape.rank() == 3 && patches.shape.rank() == 3 && y.shape[1] == patches.shape[1] + 1 &&
           "one row more than [samples, patches, hidden]");
    assert(positions.size() == y.shape[1] * y.columns() && "a position for every row");
    store_rows(1, patches, y);
    for (std::int64_t sample = 0; sample < y.shape[0]; ++sample) {
        std::copy_n(class_token.data, y.columns(), y.row(sample * y.shape[1]));
    }
    position_embedding_forward(0, y, positions.reshaped({y.shape[1], y.columns()}), y);
}

void class_token_backward_input(In dy, Out dpatches) {
    load_rows(1, dy, dpatches);
}

void class_token_backward_weight(In dy, Out dclass_token, Out dpositions) {
    const std::int64_t hidden = dy.columns();
    for (std::int64_t sample = 0; sample < dy.shape[0]; ++sample) {
        add({dy.row(sample * dy.shape[1]), {hidden}}, {dclass_token.data, {hidden}});
    }
    position_embedding_backward_weight(0, dy, dpositions.reshaped({dy.shape[1], hidden}));
}

void first_row_forward(In x, Out y) {
    load_rows(0, x, y.reshaped({x.shape[0], 1, x.columns()}));
}

void first_row_backward_input(In dy, Out dx) {
    std::ranges::fill(dx, 0.F);
    store_rows(0, dy.reshaped({dx.shape[0], 1, dx.columns()}), dx);
}

}  // namespace debubble::exec::loops
