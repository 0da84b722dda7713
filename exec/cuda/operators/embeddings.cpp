#include "exec/cuda/cuda_kernels.h"
#include "exec/cuda/kernels/ends.h"
#include "exec/cuda/kernels/layers.h"
#include "exec/cuda/operators/views.h"

namespace debubble::exec::cuda {

void CudaKernels::token_embedding_forward(ConstTensorView tokens, std::int64_t first_entry,
                                          ConstTensorView table, TensorView y) {
    const EmbeddingShape shape{tokens.shape.elements(), table.shape.columns(), first_entry,
                               rows_of(table)};
    assert(y.shape.elements() == shape.tokens * shape.hidden && "y [tokens, hidden]");
    cuda::token_embedding_forward(queue_.stream(), shape, elements<std::int32_t>(tokens), in(table),
                                  out(y));
}

void CudaKernels::token_embedding_backward_weight(ConstTensorView tokens, std::int64_t first_entry,
                                                  ConstTensorView dy, TensorView dtable) {
    const EmbeddingShape shape{tokens.shape.elements(), dtable.shape.columns(), first_entry,
                               rows_of(dtable)};
    cuda::token_embedding_backward_weight(queue_.stream(), shape, elements<std::int32_t>(tokens),
                                          in(dy), out(dtable));
}

void CudaKernels::cut_patches(std::int64_t side, ConstTensorView images, TensorView patches) {
    assert(images.shape.rank() == 4 && "images [samples, channels, height, width]");
    cuda::cut_patches(queue_.stream(),
                      {images.shape[0], images.shape[1], images.shape[2], images.shape[3], side},
                      in(images), out(patches));
}

void CudaKernels::class_token_forward(ConstTensorView patches, ConstTensorView class_token,
                                      ConstTensorView positions, TensorView y) {
    const std::int64_t samples = y.shape[0], rows = y.shape[1], hidden = y.shape[2];
    copy_rows(queue_.stream(), {samples, rows - 1, hidden}, in(patches),
              {(rows - 1) * hidden, hidden}, out(y), {rows * hidden, hidden, hidden});
    copy_rows(queue_.stream(), {samples, 1, hidden}, in(class_token), {0, 0}, out(y),
              {rows * hidden, 0});
    position_embedding_forward(0, y, positions.reshaped({rows, hidden}), y);
}

void CudaKernels::class_token_backward_input(ConstTensorView dy, TensorView dpatches) {
    const std::int64_t samples = dy.shape[0], rows = dy.shape[1], hidden = dy.shape[2];
    copy_rows(queue_.stream(), {samples, rows - 1, hidden}, in(dy), {rows * hidden, hidden, hidden},
              out(dpatches), {(rows - 1) * hidden, hidden});
}

void CudaKernels::class_token_backward_weight(ConstTensorView dy, TensorView dclass_token,
                                              TensorView dpositions) {
    const std::int64_t samples = dy.shape[0], rows = dy.shape[1], hidden = dy.shape[2];
    for (std::int64_t sample = 0; sample < samples; ++sample)
        add(piece(dy, sample * rows * hidden, hidden), piece(dclass_token, 0, hidden));
    position_embedding_backward_weight(0, dy, dpositions.reshaped({rows, hidden}));
}

void CudaKernels::first_row_forward(ConstTensorView x, TensorView y) {
    const std::int64_t samples = x.shape[0], hidden = x.shape[2];
    copy_rows(queue_.stream(), {samples, 1, hidden}, in(x), {x.shape[1] * hidden, 0}, out(y),
              {hidden, 0});
}

void CudaKernels::first_row_backward_input(ConstTensorView dy, TensorView dx) {
    const std::int64_t samples = dx.shape[0], hidden = dx.shape[2];
    fill_zero(dx);
    copy_rows(queue_.stream(), {samples, 1, hidden}, in(dy), {hidden, 0}, out(dx),
              {dx.shape[1] * hidden, 0});
}

}  // namespace debubble::exec::cuda
