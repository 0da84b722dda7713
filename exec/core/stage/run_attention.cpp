#include <cmath>

#include "exec/core/stage/seen_keys.h"

/// Heads out of the packed product, rotated, and attention over them. Queries, keys and values
/// lie one after the other in the tensor that the split leaves; where the sequence is sliced,
/// keys and values have one of their own in every slice.
namespace debubble::exec {

namespace {

/// From the bytes of the tensor: whether heads are cut is a matter of each parameter.
Heads heads_of(const OperatorCall& call, int split) {
    const models::Architecture& model = call.model();
    const std::int64_t width = call.rows_of(split, model.head_dim).shape[0] / call.tokens();
    const std::int64_t whole = model.heads + (call.op.keys < 0 ? 2 * model.kv_heads : 0);
    const std::int64_t queries = model.heads * width / whole;
    const std::int64_t keys = model.kv_heads * width / whole;
    const auto stretches = std::ssize(call.stretches());
    const std::int64_t all_rows = call.how().context > 1
                                      ? (call.slice + 1) * call.rows() * call.how().context
                                      : call.first_position() + call.rows();
    return {stretches * call.samples(),
            call.rows() / stretches,
            queries,
            keys,
            model.head_dim,
            all_rows,
            stretches};
}

struct QueryKeyValue {
    TensorView q;
    KeysAndValues kv;
};

/// The three parts of a split tensor, or of its gradient; `keys`: where they lie apart.
QueryKeyValue parts_of(const OperatorCall& call, int split, int keys, const Heads& heads) {
    const TensorView all = call.rows_of(split, heads.head_dim);
    const TensorView q{all.data, heads.query_shape(), all.type};
    if (models::attends_packed(call.model(), call.how())) {
        const std::int64_t query = heads.queries * heads.head_dim,
                           key = heads.keys * heads.head_dim;
        const auto at = [&](std::int64_t column) { return q.data + column * size_of(q.type); };
        return {
            q,
            {{at(query), heads.key_shape(), q.type}, {at(query + key), heads.key_shape(), q.type}}};
    }
    std::byte* const behind =
        keys < 0 ? q.data + q.bytes() : call.rows_of(keys, heads.head_dim).data;
    return {q, keys_and_values_at(behind, heads.key_shape(), all.type)};
}

Attention attention_of(const OperatorCall& call, const Heads& heads, std::int64_t first_query) {
    Attention attention;
    attention.causal = call.model().causal;
    attention.first_query = first_query;
    attention.scale = 1 / std::sqrt(static_cast<double>(call.model().head_dim));
    if (models::attends_packed(call.model(), call.how()))
        attention.packed_row = (heads.queries + 2 * heads.keys) * heads.head_dim;
    if (call.state.step->training && call.how().attention_dropout && call.state.tools.dropout > 0) {
        AttentionDropout dropout;
        dropout.dropout = {call.state.tools.dropout, call.random_stream("attention")};
        dropout.all_heads = call.model().heads;
        dropout.all_positions = call.how().seq_length;
        dropout.first_sample = call.inputs().first_sample;
        if (heads.queries != call.model().heads)
            dropout.first_head = call.tensor_rank() * heads.queries;
        attention.dropout = dropout;
    }
    return attention;
}

/// Turns the first heads of a tensor [samples, rows, heads, head_dim] to their positions, or back.
enum class Turn { There, Back };
void rotate(const OperatorCall& call, const Heads& heads, Turn turn, const TensorView& x,
            std::int64_t turned) {
    if (call.op.kind != models::OperatorKind::Rope) return;
    const TensorView cosines = call.state.cosines.view(), sines = call.state.sines.view();
    const std::vector<std::int64_t> positions = call.stretches();
    for (std::int64_t i = 0; i < heads.stretches; ++i) {
        const std::int64_t first = positions[static_cast<std::size_t>(i)];
        const TensorView stretch = of_stretch(x, heads, i);
        if (turn == Turn::There) {
            call.kernels().rope_forward(first, turned, cosines, sines, stretch);
        } else {
            call.kernels().rope_backward_input(first, turned, cosines, sines, stretch);
        }
    }
}

/// Queries and keys where the packed product, or its gradient, has them.
void rotate_packed(const OperatorCall& call, Turn turn, int packed) {
    const Heads heads = heads_of(call, packed);
    const TensorView all = call.tensor(
        packed, {heads.samples, heads.rows, heads.queries + 2 * heads.keys, heads.head_dim});
    rotate(call, heads, turn, all, heads.queries + heads.keys);
}

}  // namespace

void split_heads_forward(const OperatorCall& call) {
    if (models::attends_packed(call.model(), call.how()))
        return rotate_packed(call, Turn::There, call.op.outputs[0]);
    const Heads heads = heads_of(call, call.op.outputs[0]);
    const QueryKeyValue out = parts_of(call, call.op.outputs[0], call.op.keys, heads);
    const std::int64_t width = (heads.queries + 2 * heads.keys) * heads.head_dim;
    const TensorView packed = call.tensor(call.op.inputs[0], {heads.samples, heads.rows, width});
    call.kernels().split_heads_forward(0, packed, out.q, out.kv.k, out.kv.v);
    rotate(call, heads, Turn::There, out.q, heads.queries);
    rotate(call, heads, Turn::There, out.kv.k, heads.keys);
    if (call.state.tools.keys != nullptr) keep_keys(call, heads, out.kv);
}

void split_heads_backward_input(const OperatorCall& call) {
    if (models::attends_packed(call.model(), call.how()))
        return rotate_packed(call, Turn::Back, call.op.output_gradient);
    const Heads heads = heads_of(call, call.op.output_gradient);
    const QueryKeyValue dout = parts_of(call, call.op.output_gradient, call.op.key_gradient, heads);
    rotate(call, heads, Turn::Back, dout.q, heads.queries);
    rotate(call, heads, Turn::Back, dout.kv.k, heads.keys);
    const std::int64_t width = (heads.queries + 2 * heads.keys) * heads.head_dim;
    call.kernels().split_heads_backward_input(
        0, dout.q, dout.kv.k, dout.kv.v,
        call.tensor(call.op.input_gradient, {heads.samples, heads.rows, width}));
}

void attention_forward(const OperatorCall& call) {
    const Heads heads = heads_of(call, call.op.inputs[0]);
    const QueryKeyValue in = parts_of(call, call.op.inputs[0], call.op.keys, heads);
    const KeysAndValues kv = seen_keys(call, heads, in.kv, KeyUse::Forward);
    const TensorView out = call.tensor(call.op.outputs[0], heads.query_shape());
    const TensorView log_sum =
        call.tensor(call.op.saved[2], {heads.samples, heads.queries, heads.rows}, DataType::Fp32);
    const std::vector<std::int64_t> positions = call.stretches();
    for (std::int64_t i = 0; i < heads.stretches; ++i) {
        const auto of = [&](const TensorView& x) { return of_stretch(x, heads, i); };
        call.kernels().attention_forward(
            attention_of(call, heads, positions[static_cast<std::size_t>(i)]), of(in.q), kv.k, kv.v,
            of(out), of(log_sum));
    }
}

void attention_backward_input(const OperatorCall& call) {
    const Heads heads = heads_of(call, call.op.inputs[0]);
    const QueryKeyValue in = parts_of(call, call.op.inputs[0], call.op.keys, heads);
    const QueryKeyValue dx = parts_of(call, call.op.input_gradient, call.op.key_gradient, heads);
    const TensorView dout = call.tensor(call.op.output_gradient, heads.query_shape());
    const TensorView out = call.tensor(call.op.outputs[0], heads.query_shape());
    const TensorView log_sum =
        call.tensor(call.op.saved[2], {heads.samples, heads.queries, heads.rows}, DataType::Fp32);
    const KeysAndValues kv = seen_keys(call, heads, in.kv, KeyUse::Backward);
    const KeysAndValues sums = key_gradient_sums(call, heads, dx.kv);
    const bool sums_up = call.op.keys >= 0 && call.how().context == 1;  // over slices
    const std::vector<std::int64_t> positions = call.stretches();
    for (std::int64_t i = 0; i < heads.stretches; ++i) {
        const auto of = [&](const TensorView& x) { return of_stretch(x, heads, i); };
        Attention attention = attention_of(call, heads, positions[static_cast<std::size_t>(i)]);
        if (i == 0 && !sums_up) attention.key_gradients = Write::Overwrite;
        call.kernels().attention_backward_input(attention, of(dout), of(in.q), kv.k, kv.v, of(out),
                                                of(log_sum), of(dx.q), sums.k, sums.v);
    }
    hand_out_key_gradients(call, heads, sums, dx.kv);
}

}  // namespace debubble::exec
