#include <cmath>

#include "exec/stage/operator_call.h"

/// Heads out of the packed product, rotated, and attention over them. Queries, keys and values
/// lie one after the other in the tensor that the split leaves.
namespace debubble::exec {

namespace {

/// Extents of a rank's heads.
struct Heads {
    std::int64_t samples, rows, queries, keys, head_dim;
    std::int64_t all_rows;  ///< that any query of the pass may see

    Shape query_shape() const { return {samples, rows, queries, head_dim}; }
    Shape key_shape() const { return {samples, rows, keys, head_dim}; }
    Shape all_keys_shape() const { return {samples, all_rows, keys, head_dim}; }
};

/// From the bytes of the tensor: whether heads are cut is a matter of each parameter.
Heads heads_of(const OperatorCall& call, int split) {
    const models::Architecture& model = call.model();
    const std::int64_t width = call.rows_of(split, model.head_dim).shape[0] / call.tokens();
    const std::int64_t whole = model.heads + 2 * model.kv_heads;
    const std::int64_t queries = model.heads * width / whole;
    const std::int64_t keys = model.kv_heads * width / whole;
    return {call.samples(), call.rows(),    queries,
            keys,           model.head_dim, call.first_position() + call.rows()};
}

struct QueryKeyValue {
    TensorView q, k, v;
};

/// The three parts of a split tensor, or of its gradient.
QueryKeyValue parts_of(const OperatorCall& call, int split, const Heads& heads) {
    const TensorView all = call.rows_of(split, heads.head_dim);
    QueryKeyValue parts;
    parts.q = {all.data, heads.query_shape(), all.type};
    parts.k = {parts.q.data + parts.q.bytes(), heads.key_shape(), all.type};
    parts.v = {parts.k.data + parts.k.bytes(), heads.key_shape(), all.type};
    return parts;
}

/// Queries see keys of earlier passes.
bool keeps_keys(const OperatorCall& call) {
    return call.how().slices > 1 || call.state.tools.keys != nullptr;
}

/// The first `rows` positions of every sample of whole [samples, T, ...], as a copy.
void copy_rows(const OperatorCall& call, ConstTensorView from, std::int64_t from_row, TensorView to,
               std::int64_t to_row, std::int64_t rows) {
    const std::int64_t width = from.shape[2] * from.shape[3];
    const std::int64_t row_bytes = width * size_of(from.type);
    for (std::int64_t sample = 0; sample < from.shape[0]; ++sample) {
        const std::int64_t source = sample * from.shape[1] + from_row;
        const std::int64_t target = sample * to.shape[1] + to_row;
        call.kernels().copy({from.data + source * row_bytes, {rows, width}, from.type},
                            {to.data + target * row_bytes, {rows, width}, to.type});
    }
}

SlicedKeys& sliced_keys(const OperatorCall& call) {
    KeyCache* const beyond = call.state.tools.keys;
    KeyCache& keys = beyond != nullptr ? *beyond : call.state.sliced_keys;
    return keys[{call.micro_batch, call.op.layer.value_or(0)}];
}

ArenaTensor held(const OperatorCall& call, const Shape& shape) {
    return call.state.tools.arena.allocate(shape, call.compute_type(), MemoryClass::Activations,
                                           call.op.name);
}

/// Keys and values of this slice join those of the earlier ones.
void keep_keys(const OperatorCall& call, const QueryKeyValue& mine) {
    SlicedKeys& kept = sliced_keys(call);
    const Shape whole{mine.k.shape[0], call.how().seq_length, mine.k.shape[2], mine.k.shape[3]};
    if (!kept.keys) {
        kept.keys = held(call, whole);
        kept.values = held(call, whole);
    }
    copy_rows(call, mine.k, 0, kept.keys.view(), call.first_position(), call.rows());
    copy_rows(call, mine.v, 0, kept.values.view(), call.first_position(), call.rows());
}

Attention attention_of(const OperatorCall& call, const Heads& heads) {
    Attention attention;
    attention.causal = call.model().causal;
    attention.first_query = call.first_position();
    attention.scale = 1 / std::sqrt(static_cast<double>(call.model().head_dim));
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

/// Keys and values that this pass's queries see: of one slice they are its own.
struct Seen {
    ArenaTensor memory[2];
    TensorView k, v;
};

Seen seen_by(const OperatorCall& call, const Heads& heads, const QueryKeyValue& mine,
             const TensorView& keys, const TensorView& values) {
    if (!keeps_keys(call)) return {{}, mine.k, mine.v};
    Seen seen;
    seen.memory[0] = call.temporary(heads.all_keys_shape(), call.compute_type());
    seen.memory[1] = call.temporary(heads.all_keys_shape(), call.compute_type());
    seen.k = seen.memory[0].view();
    seen.v = seen.memory[1].view();
    copy_rows(call, keys, 0, seen.k, 0, heads.all_rows);
    copy_rows(call, values, 0, seen.v, 0, heads.all_rows);
    return seen;
}

/// Gradients of keys and values gather over the slices, whose backward comes last one first.
void sliced_backward(const OperatorCall& call, const Heads& heads, const QueryKeyValue& mine,
                     const QueryKeyValue& gradients, ConstTensorView dout, ConstTensorView out,
                     ConstTensorView log_sum) {
    SlicedKeys& kept = sliced_keys(call);
    Kernels& kernels = call.kernels();
    if (!kept.key_gradients) {
        kept.key_gradients = held(call, kept.keys.view().shape);
        kept.value_gradients = held(call, kept.keys.view().shape);
        kernels.fill_zero(kept.key_gradients.view());
        kernels.fill_zero(kept.value_gradients.view());
    }
    const Seen seen = seen_by(call, heads, mine, kept.keys.view(), kept.values.view());
    const Seen sums =
        seen_by(call, heads, mine, kept.key_gradients.view(), kept.value_gradients.view());
    kernels.attention_backward_input(attention_of(call, heads), dout, mine.q, seen.k, seen.v, out,
                                     log_sum, gradients.q, sums.k, sums.v);
    const std::int64_t first = call.first_position();
    copy_rows(call, sums.k, first, gradients.k, 0, call.rows());
    copy_rows(call, sums.v, first, gradients.v, 0, call.rows());
    copy_rows(call, sums.k, 0, kept.key_gradients.view(), 0, first);
    copy_rows(call, sums.v, 0, kept.value_gradients.view(), 0, first);
    if (first == 0)  // nobody looks at this microbatch any more
        call.state.sliced_keys.erase({call.micro_batch, call.op.layer.value_or(0)});
}

}  // namespace

void split_heads_forward(const OperatorCall& call) {
    const Heads heads = heads_of(call, call.op.outputs[0]);
    const QueryKeyValue out = parts_of(call, call.op.outputs[0], heads);
    const std::int64_t width = (heads.queries + 2 * heads.keys) * heads.head_dim;
    const TensorView packed = call.tensor(call.op.inputs[0], {heads.samples, heads.rows, width});
    call.kernels().split_heads_forward(0, packed, out.q, out.k, out.v);
    if (call.op.kind == models::OperatorKind::Rope) {
        const TensorView cosines = call.state.cosines.view(), sines = call.state.sines.view();
        call.kernels().rope_forward(call.first_position(), cosines, sines, out.q);
        call.kernels().rope_forward(call.first_position(), cosines, sines, out.k);
    }
    if (keeps_keys(call)) keep_keys(call, out);
}

void split_heads_backward_input(const OperatorCall& call) {
    const Heads heads = heads_of(call, call.op.output_gradient);
    const QueryKeyValue dout = parts_of(call, call.op.output_gradient, heads);
    if (call.op.kind == models::OperatorKind::Rope) {
        const TensorView cosines = call.state.cosines.view(), sines = call.state.sines.view();
        call.kernels().rope_backward_input(call.first_position(), cosines, sines, dout.q);
        call.kernels().rope_backward_input(call.first_position(), cosines, sines, dout.k);
    }
    const std::int64_t width = (heads.queries + 2 * heads.keys) * heads.head_dim;
    call.kernels().split_heads_backward_input(
        0, dout.q, dout.k, dout.v,
        call.tensor(call.op.input_gradient, {heads.samples, heads.rows, width}));
}

void attention_forward(const OperatorCall& call) {
    const Heads heads = heads_of(call, call.op.inputs[0]);
    const QueryKeyValue in = parts_of(call, call.op.inputs[0], heads);
    Seen seen;
    if (keeps_keys(call)) {
        const SlicedKeys& kept = sliced_keys(call);
        seen = seen_by(call, heads, in, kept.keys.view(), kept.values.view());
    } else {
        seen = seen_by(call, heads, in, {}, {});
    }
    call.kernels().attention_forward(
        attention_of(call, heads), in.q, seen.k, seen.v,
        call.tensor(call.op.outputs[0], heads.query_shape()),
        call.tensor(call.op.saved[2], {heads.samples, heads.queries, heads.rows}, DataType::Fp32));
}

void attention_backward_input(const OperatorCall& call) {
    const Heads heads = heads_of(call, call.op.inputs[0]);
    const QueryKeyValue in = parts_of(call, call.op.inputs[0], heads);
    const QueryKeyValue dx = parts_of(call, call.op.input_gradient, heads);
    const TensorView dout = call.tensor(call.op.output_gradient, heads.query_shape());
    const TensorView out = call.tensor(call.op.outputs[0], heads.query_shape());
    const TensorView log_sum =
        call.tensor(call.op.saved[2], {heads.samples, heads.queries, heads.rows}, DataType::Fp32);
    if (keeps_keys(call)) return sliced_backward(call, heads, in, dx, dout, out, log_sum);
    call.kernels().fill_zero(dx.k);
    call.kernels().fill_zero(dx.v);
    call.kernels().attention_backward_input(attention_of(call, heads), dout, in.q, in.k, in.v, out,
                                            log_sum, dx.q, dx.k, dx.v);
}

}  // namespace debubble::exec
