#include "models/build/graph_builder.h"
#include "models/build/layer_names.h"

namespace debubble::models {

namespace {

using Kind = Collective::Kind;

/// The table's rows, added to every sample. Cut by column (hidden) they are gathered
/// before the sum.
op::PositionEmbedding::Table learned_positions(GraphBuilder& builder, const OperatorPlace& place,
                                               Operator& op, Value x) {
    const Architecture& model = builder.model();
    const Sizes& size = builder.size;
    const Sharding cut = builder.sharding_of(place.name, {Sharding::Replicated, Sharding::Column});
    const bool column = cut == Sharding::Column;
    const std::int64_t columns = builder.part(column, model.hidden, "hidden columns");
    const std::int64_t table = model.max_positions * columns;
    const std::int64_t bytes = size.stream_bytes();
    op.parameters = {builder.parameter(
        {place.name, {model.max_positions, model.hidden}, cut, column ? 1 : 0, 1, {}})};
    op::PositionEmbedding::Table roles{op.parameters.front(), {}, {}};
    if (column && size.tensor > 1) {
        const std::int64_t rows = size.element * size.queries;
        roles.gathered = {builder.scratch(place.kernel + ".part", rows * columns),
                          builder.scratch(place.kernel + ".whole", rows * size.hidden)};
        op.forward_uses.push_back(roles.gathered->part);
        op.forward_uses.push_back(roles.gathered->whole);
        op.forward.push_back(moves(place.kernel + ".rows", {}, rows * columns, rows * columns));
        append(op.forward, collective(builder, place.kernel + ".gather", {}, Kind::AllGather,
                                      rows * size.hidden));
    }
    op.forward.push_back(moves(place.kernel, {}, 2 * bytes, bytes));
    op.backward_weight.push_back(moves(place.kernel + ".dw", {}, bytes / size.hidden * columns,
                                       table * size_of(builder.how().gradients)));
    op.backward_weight_uses = {x.gradient};
    if (builder.how().kernels.embedding_gradient_tensor) {
        roles.gradient = builder.scratch("d.embedding.positions", size.element * table);
        op.backward_weight_uses.push_back(*roles.gradient);
    }
    return roles;
}

/// Learned positions and the dropout after them; x unchanged if there are neither.
Value positions_and_dropout(GraphBuilder& builder, Value x) {
    const bool learned = builder.model().learned_positions;
    if (!learned && !builder.drops()) return x;
    const std::int64_t bytes = builder.size.stream_bytes();
    const std::int64_t elements = builder.size.stream_tokens * builder.size.hidden;
    const OperatorPlace place{
        stage_names(builder.model()).position_embedding, "embedding.positions", {}};
    const Value out{builder.tensor("embedding.sum", bytes), x.gradient};
    Operator op = start(place);
    op.inputs = {x.tensor};
    op.forward_uses = {x.tensor, out.tensor};
    op::PositionEmbedding roles{x.tensor, out.tensor, x.gradient, {}, {}};
    if (learned) roles.table = learned_positions(builder, place, op, x);
    if (builder.drops()) {
        const std::int64_t mask = builder.masks() ? elements : 0;
        op.forward.push_back(moves("embedding.dropout", {}, bytes, bytes + mask));
        op.backward_input.push_back(moves("embedding.dropout.dx", {}, bytes + mask, bytes));
        op.backward_input_uses = {x.gradient};
    }
    if (builder.masks()) {
        roles.mask = builder.tensor("embedding.mask", elements);
        op.saved = {*roles.mask};
        op.forward_uses.push_back(*roles.mask);
        op.backward_input_uses.push_back(*roles.mask);
    }
    op.roles = roles;
    builder.graph.operators.push_back(std::move(op));
    return out;
}

/// A gradient tensor of its own is zeroed, scattered into, then added.
std::optional<int> gradient_of_table(GraphBuilder& builder, Operator& op, std::int64_t table,
                                     std::int64_t rows) {
    const std::int64_t element = builder.size.element;
    const std::int64_t gradient = size_of(builder.how().gradients);
    if (!builder.how().kernels.embedding_gradient_tensor) {
        const std::int64_t touched = rows / element * gradient;
        op.backward_weight.push_back(moves("embedding.dw", {}, rows + touched, touched));
        return {};
    }
    const int made = builder.scratch("d.embedding.weight", element * table);
    op.backward_weight_uses.push_back(made);
    op.backward_weight.push_back(moves("embedding.dw", {}, rows, element * table + rows));
    op.backward_weight.push_back(
        moves("embedding.dw.accumulate", {}, (element + gradient) * table, gradient * table));
    return made;
}

/// The rank's rows of the vocabulary give a partial sum; the rank's columns are gathered.
Value embedded(GraphBuilder& builder, int table, Sharding cut, int stream_gradient, int ahead) {
    const Sizes& size = builder.size;
    const OperatorPlace place{stage_names(builder.model()).token_embedding, "embedding", {}};
    const bool by_vocabulary = cut == Sharding::Vocabulary;
    const bool by_column = cut == Sharding::Column && size.tensor > 1;
    builder.cut_vocabulary(by_vocabulary);
    const std::int64_t columns = builder.part(by_column, size.hidden, "hidden columns");
    const std::int64_t full = size.element * size.tokens * columns;
    Operator op = start(place);
    Value out{builder.tensor("embedding.out", by_column ? full : size.stream_bytes()),
              stream_gradient, by_column};
    if (by_column) out.gradient = builder.tensor("d.embedding.out", full);
    op.parameters = {table};
    op::TokenEmbedding roles;
    roles.table = table;
    roles.sharding = cut;
    roles.ahead = ahead;
    roles.tokens = builder.tensor("embedding.tokens", 8 * size.tokens);
    roles.y = out;
    op.saved = {roles.tokens};
    op.forward_uses = {roles.tokens};
    op.forward = {moves("embedding", {}, full, full)};
    op.backward_weight_uses = {roles.tokens, out.gradient};
    if (size.scattered) {
        roles.partial = builder.scratch("embedding.partial", full);
        op.forward_uses.push_back(*roles.partial);
        add_pieces(builder, op.forward_uses, "embedding.partial", full, false);
        append(op.forward, collective(builder, "embedding.scatter", {}, Kind::ReduceScatter, full));
        roles.gathered_gradient = builder.scratch("d.embedding.gathered", full);
        op.backward_weight_uses.push_back(*roles.gathered_gradient);
        add_pieces(builder, op.backward_weight_uses, "d.embedding.gathered", full, false);
        append(op.backward_weight,
               collective(builder, "embedding.dw.gather", {}, Kind::AllGather, full));
    } else if (by_vocabulary) {
        append(op.forward, collective(builder, "embedding.reduce", {}, Kind::AllReduce, full));
    }
    op.forward_uses.push_back(out.tensor);
    if (builder.model().scaled_embedding) {
        const std::int64_t bytes = builder.graph.tensors[out.tensor].bytes.count;
        roles.scaled = true;
        op.forward.push_back(moves("embedding.scale", {}, bytes, bytes));
        op.backward_weight.push_back(moves("embedding.scale.dx", {}, bytes, bytes));
    }
    if (builder.how().lora) {
        op.backward_weight.clear();
        op.backward_weight_uses.clear();
    } else {
        roles.table_gradient = gradient_of_table(builder, op, size.vocab * columns, full);
    }
    op.roles = roles;
    builder.graph.operators.push_back(std::move(op));
    return gathered(builder, {place.name, "embedding.out", {}}, out, stream_gradient);
}

Sharding cut_of_embedding(GraphBuilder& builder) {
    return builder.sharding_of(stage_names(builder.model()).token_embedding,
                               {Sharding::Vocabulary, Sharding::Column, Sharding::Replicated});
}

}  // namespace

Value token_embedding(GraphBuilder& builder, int stream_gradient) {
    const Architecture& model = builder.model();
    const Sharding cut = cut_of_embedding(builder);
    const int table = builder.parameter({stage_names(model).token_embedding,
                                         {model.vocab, model.hidden},
                                         cut,
                                         cut == Sharding::Column ? 1 : 0,
                                         1,
                                         {}});
    return positions_and_dropout(builder, embedded(builder, table, cut, stream_gradient, 0));
}

Value embedding_ahead(GraphBuilder& builder, int table, int ahead) {
    const int gradient = builder.tensor("d.embedding.ahead", builder.size.stream_bytes());
    return embedded(builder, table, cut_of_embedding(builder), gradient, ahead);
}

}  // namespace debubble::models
