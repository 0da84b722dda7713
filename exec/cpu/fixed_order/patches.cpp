#include "exec/cpu/fixed_order/patches.h"

#include <algorithm>

#include "exec/cpu/fixed_order/embedding.h"
#include "exec/cpu/fixed_order/heads.h"
#include "exec/cpu/fixed_order/residual.h"

namespace debubble::exec::fixed_order {

template <Real T>
void cut_patches(std::int64_t side, In<T> images, Out<T> patches) {
    assert(images.shape.rank() == 4 && "images [samples, channels, height, width]");
    assert(images.size() == patches.size() && images.shape[2] % side == 0 &&
           images.shape[3] % side == 0 && "patches tile the image");
    const std::int64_t channels = images.shape[1];
    const std::int64_t down = images.shape[2] / side;
    const std::int64_t across = images.shape[3] / side;
    T* to = patches.data;
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

template <Real T>
void class_token_forward(In<T> patches, In<T> class_token, In<T> positions, Out<T> y) {
    assert(y.shape.rank() == 3 && patches.shape.rank() == 3 && y.shape[1] == patches.shape[1] + 1 &&
           "one row more than [samples, patches, hidden]");
    assert(positions.size() == y.shape[1] * y.columns() && "a position for every row");
    store_rows<T>(1, patches, y);
    for (std::int64_t sample = 0; sample < y.shape[0]; ++sample) {
        std::copy_n(class_token.data, y.columns(), y.row(sample * y.shape[1]));
    }
    position_embedding_forward<T>(0, y, positions.reshaped({y.shape[1], y.columns()}), y);
}

template <Real T>
void class_token_backward_input(In<T> dy, Out<T> dpatches) {
    load_rows<T>(1, dy, dpatches);
}

template <Real T>
void class_token_backward_weight(In<T> dy, Out<T> dclass_token, Out<T> dpositions) {
    const std::int64_t hidden = dy.columns();
    for (std::int64_t sample = 0; sample < dy.shape[0]; ++sample) {
        add<T>({dy.row(sample * dy.shape[1]), {hidden}}, {dclass_token.data, {hidden}});
    }
    position_embedding_backward_weight<T>(0, dy, dpositions.reshaped({dy.shape[1], hidden}));
}

template <Real T>
void first_row_forward(In<T> x, Out<T> y) {
    load_rows<T>(0, x, y.reshaped({x.shape[0], 1, x.columns()}));
}

template <Real T>
void first_row_backward_input(In<T> dy, Out<T> dx) {
    std::ranges::fill(dx, T{0});
    store_rows<T>(0, dy.reshaped({dx.shape[0], 1, dx.columns()}), dx);
}

#define INSTANTIATE(T)                                                   \
    template void cut_patches<T>(std::int64_t, In<T>, Out<T>);           \
    template void class_token_forward<T>(In<T>, In<T>, In<T>, Out<T>);   \
    template void class_token_backward_input<T>(In<T>, Out<T>);          \
    template void class_token_backward_weight<T>(In<T>, Out<T>, Out<T>); \
    template void first_row_forward<T>(In<T>, Out<T>);                   \
    template void first_row_backward_input<T>(In<T>, Out<T>);
INSTANTIATE(float)
INSTANTIATE(double)
#undef INSTANTIATE

}  // namespace debubble::exec::fixed_order
