#include "models/build/attention/core.h"

/// Scores, softmax and context as kernels of their own.
namespace debubble::models {

namespace {

std::vector<int> tensors_of(const op::Probabilities& kept) {
    if (!kept.mask) return {kept.softmax};
    return {kept.softmax, *kept.mask, *kept.dropped};
}

}  // namespace

op::Probabilities AttentionCore::probabilities(const char* suffix) const {
    const std::int64_t element = builder.size.element;
    op::Probabilities kept;
    kept.softmax = builder.tensor(place.kernel + ".softmax" + suffix, element * scores());
    if (!drops()) return kept;
    kept.mask = builder.tensor(place.kernel + ".mask" + suffix, scores());
    kept.dropped = builder.tensor(place.kernel + ".dropped" + suffix, element * scores());
    return kept;
}

/// Scores, softmax, dropout and context as separate kernels. The bytes per score, 11 forward and 13
/// backward in all with dropout, include a softmax that reads twice.
void AttentionCore::unfused_forward(std::vector<Kernel>& kernels, std::vector<int>& uses,
                                    const models::op::Probabilities& kept) const {
    const Sizes& size = builder.size;
    const std::int64_t e = size.element;
    const std::int64_t d = builder.attention().head_dim;
    const std::int64_t v = builder.attention().value_dim;
    kernels.push_back(product(".scores", size.queries, size.keys, d));
    kernels.push_back(
        moves(place.kernel + ".softmax", place.layer, 2 * e * scores(), e * scores()));
    if (drops()) {
        kernels.push_back(
            moves(place.kernel + ".dropout", place.layer, e * scores(), (e + 1) * scores()));
    }
    kernels.push_back(product(".context", size.queries, v, size.keys));
    kernels.push_back(moves(place.kernel + ".copy", place.layer, out_bytes(), out_bytes()));
    uses.push_back(qkv.tensor);
    for (const int tensor : tensors_of(kept)) uses.push_back(tensor);
}

void AttentionCore::unfused() {
    const Sizes& size = builder.size;
    const std::int64_t e = size.element;
    const std::int64_t d = builder.attention().head_dim;
    const std::int64_t v = builder.attention().value_dim;
    op::UnfusedKernel kernel;
    kernel.forward = kernel.backward = probabilities("");
    unfused_forward(op.forward, op.forward_uses, kernel.forward);
    kernel.scores = builder.scratch(place.kernel + ".scores", e * scores());
    op.forward_uses.push_back(kernel.scores);
    op.forward_uses.push_back(out.tensor);
    op.saved = {qkv.tensor};
    op.backward_input_uses = {out.gradient};
    if (builder.how().recompute == Recompute::Selective) {
        kernel.backward = probabilities(".again");
        unfused_forward(op.backward_input, op.backward_input_uses, kernel.backward);
    } else {
        for (const int tensor : tensors_of(kernel.forward)) op.saved.push_back(tensor);
        op.backward_input_uses.insert(op.backward_input_uses.end(), op.saved.begin(),
                                      op.saved.end());
    }
    append(op.backward_input,
           {moves(place.kernel + ".copy.dx", place.layer, out_bytes(), out_bytes()),
            product(".probabilities.dx", size.queries, size.keys, v),
            product(".values.dx", size.keys, v, size.queries)});
    if (drops()) {
        op.backward_input.push_back(
            moves(place.kernel + ".dropout.dx", place.layer, (e + 1) * scores(), e * scores()));
    }
    append(op.backward_input,
           {moves(place.kernel + ".softmax.dx", place.layer, 3 * e * scores(), e * scores()),
            product(".queries.dx", size.queries, d, size.keys),
            product(".keys.dx", size.keys, d, size.queries)});
    kernel.probabilities_gradient =
        builder.scratch("d." + place.kernel + ".probabilities", e * scores());
    kernel.scores_gradient = builder.scratch("d." + place.kernel + ".scores", e * scores());
    append_uses(op.backward_input_uses,
                {kernel.probabilities_gradient, kernel.scores_gradient, qkv.gradient});
    roles.kernel = kernel;
}

}  // namespace debubble::models
