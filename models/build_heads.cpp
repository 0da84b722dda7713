#include "models/graph_builder.h"

/// Queries, keys and values of the packed product, as the attention core takes them.
namespace debubble::models {

namespace {

/// Bias, rotation and the copy into queries, keys and values.
SplitHeads split_off(GraphBuilder& builder, const OperatorPlace& place, Value packed) {
    const Sizes& size = builder.size;
    const std::int64_t rotated = size.tokens * (size.query_width + size.key_width);
    const bool rope = builder.model().positions == Positions::Rope;
    const std::int64_t bytes = size.element * (rotated + size.tokens * size.key_width);
    const bool sliced = builder.how().slices > 1;
    const std::int64_t viewed = !builder.how().kernels.attention_copies || sliced ? 0
                                : rope ? size.element * size.tokens * size.key_width
                                       : bytes;
    const std::int64_t copied = bytes - viewed;
    const std::int64_t keys = sliced ? 2 * size.element * size.tokens * size.key_width : 0;
    SplitHeads split{{builder.tensor(place.kernel + ".out", copied - keys),
                      builder.tensor("d." + place.kernel + ".out", bytes - keys), packed.cut}};
    Operator op = start(place, rope ? OperatorKind::Rope : OperatorKind::SplitHeads);
    op.inputs = {packed.tensor};
    op.outputs = {split.queries.tensor};
    op.input_gradient = packed.gradient;
    op.output_gradient = split.queries.gradient;
    op.forward = {moves(place.kernel, place.layer, copied, copied)};
    op.backward_input = {moves(place.kernel + ".dx", place.layer, bytes, bytes)};
    op.forward_uses = {packed.tensor, split.queries.tensor};
    op.backward_input_uses = {split.queries.gradient, packed.gradient};
    if (sliced) {
        split.keys = op.keys = builder.tensor(place.kernel + ".keys", keys);
        split.key_gradient = op.key_gradient = builder.tensor("d." + place.kernel + ".keys", keys);
        builder.graph.tensors[split.keys].slices = Across::Seen;
        builder.graph.tensors[split.key_gradient].slices = Across::Summed;
        op.inputs.push_back(split.keys);  // what is run again writes where it is
        op.outputs.push_back(split.keys);
        op.forward_uses.push_back(split.keys);
        op.backward_input_uses.push_back(split.key_gradient);
    }
    if (rope && !builder.how().kernels.fused_rope) {
        // cosine product, rotated half, sine product, sum; tables of queries and of keys kept
        op.saved = {builder.tensor(place.kernel + ".tables",
                                   4 * size.element * size.queries * builder.model().head_dim)};
        op.forward_uses.push_back(op.saved[0]);
        op.backward_input_uses.push_back(op.saved[0]);
        const std::int64_t pass = size.element * rotated;
        op.forward.push_back(moves(place.kernel + ".rotate", place.layer, 5 * pass, 4 * pass));
        op.backward_input.push_back(
            moves(place.kernel + ".rotate.dx", place.layer, 5 * pass, 4 * pass));
    }
    builder.graph.operators.push_back(std::move(op));
    return split;
}

/// All three as the packed product has them, queries and keys rotated where they are.
SplitHeads in_place(GraphBuilder& builder, const OperatorPlace& place, Value packed) {
    if (builder.model().positions != Positions::Rope) return {packed};
    const Sizes& size = builder.size;
    const std::int64_t rotated = size.element * size.tokens * (size.query_width + size.key_width);
    Operator op = start(place, OperatorKind::Rope, packed, packed);
    op.forward = {moves(place.kernel, place.layer, rotated, rotated)};
    op.backward_input = {moves(place.kernel + ".dx", place.layer, rotated, rotated)};
    op.forward_uses = {packed.tensor};
    op.backward_input_uses = {packed.gradient};
    builder.graph.operators.push_back(std::move(op));
    return {packed};
}

}  // namespace

bool attends_packed(const Architecture& architecture, const Execution& execution) {
    return execution.kernels.packed_attention && execution.attention == AttentionKernel::Flash &&
           execution.slices == 1 && execution.context == 1 &&
           (execution.kernels.fused_rope || architecture.positions != Positions::Rope);
}

SplitHeads split_heads(GraphBuilder& builder, const OperatorPlace& place, Value packed) {
    return attends_packed(builder.model(), builder.how()) ? in_place(builder, place, packed)
                                                          : split_off(builder, place, packed);
}

}  // namespace debubble::models
