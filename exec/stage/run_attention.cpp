#include <cmath>

#include "exec/stage/operator_call.h"

/// Heads out of the packed product, rotated, and attention over them. Queries, keys and values
/// lie one after the other in the tensor that the split leaves; where the sequence is sliced,
/// keys and values have one of their own in every slice. Where ranks share the sequence each has
/// two stretches of it, and every one of its tensors the samples of the first before those of the
/// second; to keys and values of the whole sequence they come by a gather.
namespace debubble::exec {

namespace {

/// Extents of a rank's heads.
struct Heads {
    std::int64_t samples, rows, queries, keys, head_dim;  ///< a sample for every stretch of it
    std::int64_t all_rows;                                ///< that any query of the pass may see
    std::int64_t stretches;                               ///< of a sample

    Shape query_shape() const { return {samples, rows, queries, head_dim}; }
    Shape key_shape() const { return {samples, rows, keys, head_dim}; }
    Shape all_keys_shape() const { return {samples / stretches, all_rows, keys, head_dim}; }
};

/// From the bytes of the tensor: whether heads are cut is a matter of each parameter.
Heads heads_of(const OperatorCall& call, int split) {
    const models::Architecture& model = call.model();
    const std::int64_t width = call.rows_of(split, model.head_dim).shape[0] / call.tokens();
    const std::int64_t whole = model.heads + (call.op.keys < 0 ? 2 * model.kv_heads : 0);
    const std::int64_t queries = model.heads * width / whole;
    const std::int64_t keys = model.kv_heads * width / whole;
    const auto stretches = std::ssize(call.stretches());
    const std::int64_t all_rows =
        call.how().context > 1 ? call.how().seq_length : call.first_position() + call.rows();
    return {stretches * call.samples(),
            call.rows() / stretches,
            queries,
            keys,
            model.head_dim,
            all_rows,
            stretches};
}

struct KeysAndValues {
    TensorView k, v;
};

/// Keys and behind them values, of this shape each.
KeysAndValues pair_at(std::byte* data, const Shape& each, DataType type) {
    const TensorView k{data, each, type};
    return {k, {data + k.bytes(), each, type}};
}

struct QueryKeyValue {
    TensorView q;
    KeysAndValues kv;
};

/// The three parts of a split tensor, or of its gradient; `keys`: where they lie apart.
QueryKeyValue parts_of(const OperatorCall& call, int split, int keys, const Heads& heads) {
    const TensorView all = call.rows_of(split, heads.head_dim);
    const TensorView q{all.data, heads.query_shape(), all.type};
    std::byte* const behind =
        keys < 0 ? q.data + q.bytes() : call.rows_of(keys, heads.head_dim).data;
    return {q, pair_at(behind, heads.key_shape(), all.type)};
}

/// The samples of one stretch, of a tensor [samples, ...] that has those of all.
TensorView of_stretch(const TensorView& all, const Heads& heads, std::int64_t stretch) {
    const Shape& whole = all.shape;
    const std::int64_t samples = whole[0] / heads.stretches;
    const Shape shape = whole.rank() == 3 ? Shape{samples, whole[1], whole[2]}
                                          : Shape{samples, whole[1], whole[2], whole[3]};
    return {all.data + stretch * (all.bytes() / heads.stretches), shape, all.type};
}

/// Rows of every sample of [samples, T, ...].
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

/// Between the tensors of the slices up to this one and `all`, in which they lie side by side.
enum class Direction { Join, Part };
void move_slices(const OperatorCall& call, const Heads& heads, int tensor, Direction direction,
                 const KeysAndValues& all) {
    for (int slice = 0; slice <= call.slice; ++slice) {
        const TensorView memory = call.tensor_of_slice(
            slice, tensor, {2, heads.samples * heads.rows, heads.keys, heads.head_dim});
        const KeysAndValues one = pair_at(memory.data, heads.key_shape(), memory.type);
        const std::int64_t first = slice * heads.rows;
        if (direction == Direction::Join) {
            copy_rows(call, one.k, 0, all.k, first, heads.rows);
            copy_rows(call, one.v, 0, all.v, first, heads.rows);
        } else {
            copy_rows(call, all.k, first, one.k, 0, heads.rows);
            copy_rows(call, all.v, first, one.v, 0, heads.rows);
        }
    }
}

/// Scratch of the plan for the keys and values that any query of the pass sees.
KeysAndValues all_keys(const OperatorCall& call, const Heads& heads, int scratch) {
    Shape both = heads.all_keys_shape();
    both = {2 * both[0], both[1], both[2], both[3]};
    const TensorView memory = call.tensor(scratch, both);
    return pair_at(memory.data, heads.all_keys_shape(), memory.type);
}

/// Between what the ranks of the context group have, one behind the other in `of_ranks`, and
/// `all`, where keys and values stand in the order of the sequence.
void move_stretches(const OperatorCall& call, const Heads& heads, const TensorView& of_ranks,
                    Direction direction, const KeysAndValues& all) {
    std::byte* data = of_ranks.data;
    for (int rank = 0; rank < call.how().context; ++rank) {
        const KeysAndValues theirs = pair_at(data, heads.key_shape(), of_ranks.type);
        data += 2 * theirs.k.bytes();
        const std::vector<std::int64_t> positions = call.stretches(rank);
        for (std::int64_t i = 0; i < heads.stretches; ++i) {
            const std::int64_t first = positions[static_cast<std::size_t>(i)];
            const TensorView k = of_stretch(theirs.k, heads, i);
            const TensorView v = of_stretch(theirs.v, heads, i);
            if (direction == Direction::Join) {
                copy_rows(call, k, 0, all.k, first, heads.rows);
                copy_rows(call, v, 0, all.v, first, heads.rows);
            } else {
                copy_rows(call, all.k, first, k, 0, heads.rows);
                copy_rows(call, all.v, first, v, 0, heads.rows);
            }
        }
    }
}

/// Keys and behind them values, as a rank sends them.
TensorView chunk_of(const KeysAndValues& mine) {
    return {mine.k.data, {2, mine.k.shape.elements()}, mine.k.type};
}

/// Room for the chunks of all ranks.
TensorView chunks(const OperatorCall& call, const KeysAndValues& mine, int scratch) {
    return call.tensor(scratch, {call.how().context, 2 * mine.k.shape.elements()});
}

/// Keys and values of all ranks of the context group.
KeysAndValues gathered(const OperatorCall& call, const Heads& heads, const KeysAndValues& mine,
                       const std::vector<int>& uses, bool backward) {
    const TensorView there =
        chunks(call, mine, call.named(uses, backward ? ".kv.regathered" : ".kv.gathered"));
    call.gather_context(chunk_of(mine), there);
    const KeysAndValues all =
        all_keys(call, heads, call.named(uses, backward ? ".kv.rejoined" : ".kv.joined"));
    move_stretches(call, heads, there, Direction::Join, all);
    return all;
}

/// The first rows of what an evaluation keeps of its one sample.
KeysAndValues kept(const OperatorCall& call, const Heads& heads, const Shape& shape) {
    assert(heads.samples == 1 && "keys are kept of one sample");
    KeptKeys& kept = (*call.state.tools.keys)[call.op.layer.value_or(0)];
    if (!kept.keys) {
        const Shape whole{1, call.how().seq_length, heads.keys, heads.head_dim};
        const auto held = [&] {
            return call.state.tools.arena.allocate(whole, call.compute_type(),
                                                   MemoryClass::Activations, call.op.name);
        };
        kept.keys = held();
        kept.values = held();
    }
    return {{kept.keys.view().data, shape, call.compute_type()},
            {kept.values.view().data, shape, call.compute_type()}};
}

void keep(const OperatorCall& call, const Heads& heads, const KeysAndValues& mine) {
    const KeysAndValues all = kept(call, heads, heads.all_keys_shape());
    copy_rows(call, mine.k, 0, all.k, call.first_position(), call.rows());
    copy_rows(call, mine.v, 0, all.v, call.first_position(), call.rows());
}

Attention attention_of(const OperatorCall& call, const Heads& heads, std::int64_t first_query) {
    Attention attention;
    attention.causal = call.model().causal;
    attention.first_query = first_query;
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

/// What the queries see: where there are neither earlier slices nor other ranks their own keys.
KeysAndValues seen(const OperatorCall& call, const Heads& heads, const KeysAndValues& mine,
                   bool backward) {
    if (call.state.tools.keys != nullptr) return kept(call, heads, heads.all_keys_shape());
    const std::vector<int>& uses = backward ? call.op.backward_input_uses : call.op.forward_uses;
    if (call.how().context > 1) return gathered(call, heads, mine, uses, backward);
    if (call.slice == 0) return mine;
    const KeysAndValues all =
        all_keys(call, heads, call.named(uses, backward ? ".keys.seen.again" : ".keys.seen"));
    move_slices(call, heads, call.op.keys, Direction::Join, all);
    return all;
}

/// Gradients of keys and values sum up over the slices, whose backward comes last one first, and
/// over the stretches.
KeysAndValues sums_so_far(const OperatorCall& call, const Heads& heads, const KeysAndValues& mine) {
    const bool shared = call.how().context > 1;
    if (call.slice == 0 && !shared) return mine;
    const int scratch =
        call.named(call.op.backward_input_uses, shared ? ".kv.joined" : ".keys.seen");
    const KeysAndValues all = all_keys(call, heads, scratch);
    if (call.slice + 1 == call.how().slices) {
        call.kernels().fill_zero(all.k);
        call.kernels().fill_zero(all.v);
    } else {
        move_slices(call, heads, call.op.key_gradient, Direction::Join, all);
    }
    return all;
}

/// From the sums over this rank's queries to what `mine` shall be.
void hand_out(const OperatorCall& call, const Heads& heads, const KeysAndValues& sums,
              const KeysAndValues& mine) {
    if (call.how().context > 1) {
        const int scratch = call.named(call.op.backward_input_uses, ".kv.regathered");
        const TensorView there = chunks(call, mine, scratch);
        move_stretches(call, heads, there, Direction::Part, sums);
        call.scatter_context(there, chunk_of(mine));
    } else if (call.slice > 0) {
        move_slices(call, heads, call.op.key_gradient, Direction::Part, sums);
    }
}

/// Turns queries or keys [samples, rows, heads, head_dim] to their positions, or back.
enum class Turn { There, Back };
void rotate(const OperatorCall& call, const Heads& heads, Turn turn, const TensorView& x) {
    if (call.op.kind != models::OperatorKind::Rope) return;
    const TensorView cosines = call.state.cosines.view(), sines = call.state.sines.view();
    const std::vector<std::int64_t> positions = call.stretches();
    for (std::int64_t i = 0; i < heads.stretches; ++i) {
        const std::int64_t first = positions[static_cast<std::size_t>(i)];
        const TensorView stretch = of_stretch(x, heads, i);
        if (turn == Turn::There) {
            call.kernels().rope_forward(first, cosines, sines, stretch);
        } else {
            call.kernels().rope_backward_input(first, cosines, sines, stretch);
        }
    }
}

}  // namespace

void split_heads_forward(const OperatorCall& call) {
    const Heads heads = heads_of(call, call.op.outputs[0]);
    const QueryKeyValue out = parts_of(call, call.op.outputs[0], call.op.keys, heads);
    const std::int64_t width = (heads.queries + 2 * heads.keys) * heads.head_dim;
    const TensorView packed = call.tensor(call.op.inputs[0], {heads.samples, heads.rows, width});
    call.kernels().split_heads_forward(0, packed, out.q, out.kv.k, out.kv.v);
    rotate(call, heads, Turn::There, out.q);
    rotate(call, heads, Turn::There, out.kv.k);
    if (call.state.tools.keys != nullptr) keep(call, heads, out.kv);
}

void split_heads_backward_input(const OperatorCall& call) {
    const Heads heads = heads_of(call, call.op.output_gradient);
    const QueryKeyValue dout = parts_of(call, call.op.output_gradient, call.op.key_gradient, heads);
    rotate(call, heads, Turn::Back, dout.q);
    rotate(call, heads, Turn::Back, dout.kv.k);
    const std::int64_t width = (heads.queries + 2 * heads.keys) * heads.head_dim;
    call.kernels().split_heads_backward_input(
        0, dout.q, dout.kv.k, dout.kv.v,
        call.tensor(call.op.input_gradient, {heads.samples, heads.rows, width}));
}

void attention_forward(const OperatorCall& call) {
    const Heads heads = heads_of(call, call.op.inputs[0]);
    const QueryKeyValue in = parts_of(call, call.op.inputs[0], call.op.keys, heads);
    const KeysAndValues kv = seen(call, heads, in.kv, false);
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
    const KeysAndValues kv = seen(call, heads, in.kv, true);
    const KeysAndValues sums = sums_so_far(call, heads, dx.kv);
    const bool whole = call.op.keys < 0 && call.how().context == 1;
    const std::vector<std::int64_t> positions = call.stretches();
    for (std::int64_t i = 0; i < heads.stretches; ++i) {
        const auto of = [&](const TensorView& x) { return of_stretch(x, heads, i); };
        Attention attention = attention_of(call, heads, positions[static_cast<std::size_t>(i)]);
        if (whole) attention.key_gradients = Write::Overwrite;
        call.kernels().attention_backward_input(attention, of(dout), of(in.q), kv.k, kv.v, of(out),
                                                of(log_sum), of(dx.q), sums.k, sums.v);
    }
    hand_out(call, heads, sums, dx.kv);
}

}  // namespace debubble::exec
