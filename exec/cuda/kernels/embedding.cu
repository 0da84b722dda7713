#include "exec/cuda/kernels/ends.h"

#include "exec/cuda/kernels/load.h"

namespace debubble::exec::cuda {

namespace {

__global__ void embedding_forward_kernel(EmbeddingShape shape, const std::int32_t* tokens,
                                         Operand table, Result y) {
    const std::int64_t token = block_index();
    const std::int64_t entry = tokens[token] - shape.first_entry;
    const bool here = entry >= 0 && entry < shape.entries;
    for (std::int64_t j = thread_index(); j < shape.hidden; j += thread_count())
        store(y, token * shape.hidden + j, here ? load(table, entry * shape.hidden + j) : 0.F);
}

/// A block is one warp. It owns the entries of one remainder in 32 columns, looks through all
/// tokens, 32 at a time, and adds the rows of its entries, one after the other.
__global__ void embedding_backward_kernel(EmbeddingShape shape, const std::int32_t* tokens,
                                          Operand dy, Result dtable) {
    const std::int64_t share = block_index() % kEmbeddingShares;
    const std::int64_t column = block_index() / kEmbeddingShares * kWarp + thread_index();
    for (std::int64_t first = 0; first < shape.tokens; first += kWarp) {
        const std::int64_t mine = first + thread_index();
        const std::int64_t entry = mine < shape.tokens ? tokens[mine] - shape.first_entry : -1;
        unsigned owned =
            warp_ballot(entry >= 0 && entry < shape.entries && entry % kEmbeddingShares == share);
        for (int lane = 0; owned != 0; ++lane, owned >>= 1) {
            if ((owned & 1) == 0 || column >= shape.hidden) continue;
            const std::int64_t token = first + lane;
            const std::int64_t to = (tokens[token] - shape.first_entry) * shape.hidden + column;
            store(dtable, to, load(dtable, to) + load(dy, token * shape.hidden + column));
        }
    }
}

}  // namespace

void token_embedding_forward(Stream stream, const EmbeddingShape& shape, const std::int32_t* tokens,
                             Operand table, Result y) {
    launch("token_embedding_forward", embedding_forward_kernel, over_rows(shape.tokens), stream,
           shape, tokens, table, y);
}

void token_embedding_backward_weight(Stream stream, const EmbeddingShape& shape,
                                     const std::int32_t* tokens, Operand dy, Result dtable) {
    launch("token_embedding_backward_weight", embedding_backward_kernel,
           over_embedding(shape.hidden), stream, shape, tokens, dy, dtable);
}

}  // namespace debubble::exec::cuda
