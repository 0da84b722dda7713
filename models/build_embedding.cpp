#include "models/graph_builder.h"
#include "models/layer_names.h"

namespace debubble::models {

namespace {

using Kind = Collective::Kind;

/// Learned positions and the dropout behind them; x unchanged if there are neither.
Value positions_and_dropout(GraphBuilder& builder, Value x) {
    const bool learned = builder.model().positions == Positions::Learned;
    if (!learned && !builder.masks()) return x;
    const std::int64_t bytes = builder.size.stream_bytes();
    const std::int64_t elements = builder.size.stream_tokens * builder.size.hidden;
    const Place place{stage_names(builder.model()).position_embedding, "embedding.positions", {}};
    const Value out{builder.tensor("embedding.sum", bytes), x.gradient};
    Operator op = start(place, OperatorKind::PositionEmbedding);
    op.inputs = {x.tensor};
    op.outputs = {out.tensor};
    op.forward_uses = {x.tensor, out.tensor};
    if (learned) {
        const std::int64_t table = builder.model().max_positions * builder.model().hidden;
        op.parameters = {builder.parameter({place.name,
                                            {builder.model().max_positions, builder.model().hidden},
                                            Sharding::Replicated,
                                            0,
                                            1,
                                            {}})};
        op.forward.push_back(moves(place.kernel, {}, 2 * bytes, bytes));
        op.backward_weight.push_back(
            moves(place.kernel + ".dw", {}, bytes, table * size_of(builder.how().gradients)));
        op.backward_weight_uses = {
            x.gradient, builder.scratch("d.embedding.positions", builder.size.element * table)};
    }
    if (builder.masks()) {
        op.saved = {builder.tensor("embedding.mask", elements)};
        op.forward_uses.push_back(op.saved[0]);
        op.forward.push_back(moves("embedding.dropout", {}, bytes, bytes + elements));
        op.backward_input.push_back(moves("embedding.dropout.dx", {}, bytes + elements, bytes));
        op.backward_input_uses = {x.gradient, op.saved[0]};
    }
    builder.graph.operators.push_back(std::move(op));
    return out;
}

}  // namespace

Value token_embedding(GraphBuilder& builder, int stream_gradient) {
    const Sizes& size = builder.size;
    const StageNames names = stage_names(builder.model());
    Operator op = start({names.token_embedding, "embedding", {}}, OperatorKind::TokenEmbedding);
    const Value out{builder.tensor("embedding.out", size.stream_bytes()), stream_gradient};
    op.outputs = {out.tensor};
    op.parameters = {builder.parameter({names.token_embedding,
                                        {builder.model().vocab, builder.model().hidden},
                                        Sharding::Vocabulary,
                                        0,
                                        1,
                                        {}})};
    op.saved = {builder.tensor("embedding.tokens", 8 * size.tokens)};
    op.forward_uses = {op.saved[0]};
    op.forward = {moves("embedding", {}, size.full_stream_bytes(), size.full_stream_bytes())};
    op.backward_weight_uses = {op.saved[0], stream_gradient};
    const std::int64_t full = size.full_stream_bytes();
    if (size.scattered) {
        op.forward_uses.push_back(builder.scratch("embedding.partial", full));
        append(op.forward, collective(builder, "embedding.scatter", {}, Kind::ReduceScatter, full));
        op.backward_weight_uses.push_back(builder.scratch("d.embedding.gathered", full));
        append(op.backward_weight,
               collective(builder, "embedding.dw.gather", {}, Kind::AllGather, full));
    } else {
        append(op.forward, collective(builder, "embedding.reduce", {}, Kind::AllReduce, full));
    }
    op.forward_uses.push_back(out.tensor);
    // The gradient of the table is a tensor of its own, zeroed, scattered into, then added.
    const std::int64_t table = size.vocab * size.hidden;
    const std::int64_t gradient = size_of(builder.how().gradients);
    op.backward_weight_uses.push_back(builder.scratch("d.embedding.weight", size.element * table));
    op.backward_weight.push_back(moves("embedding.dw", {}, full, size.element * table + full));
    op.backward_weight.push_back(
        moves("embedding.dw.accumulate", {}, (size.element + gradient) * table, gradient * table));
    builder.graph.operators.push_back(std::move(op));
    return positions_and_dropout(builder, out);
}

}  // namespace debubble::models
